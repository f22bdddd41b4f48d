import type { DriverCommand } from '../driver/index.js';
import type { NodeSession } from './nodeSession.js';

type LaunchArgs = Extract<DriverCommand, { op: 'launch' }>['args'];

/** The first node's start is a graph's and not a node's; two intervals behind it tell what one takes. */
const NODES = 4;

/** Microseconds from one launch to the next when equal ones run one after another in a graph. */
export function backToBackUs(session: NodeSession, args: LaunchArgs): number {
  const { handle: graph = 0 } = session.call('graphCreate', {});
  for (let node = 0; node < NODES; node++) {
    session.call('graphAddNode', {
      graph,
      after: node === 0 ? [] : [node - 1],
      node: { op: 'launch', args },
    });
  }
  const { handle: exec = 0 } = session.call('graphInstantiate', { graph });
  const { nodes = [] } = session.call('graphLaunch', { exec });
  const ends = nodes.map(({ result }) => result.launch?.endNs ?? NaN);
  return Math.round((ends[NODES - 1] - ends[1]) / (NODES - 2)) / 1000;
}
