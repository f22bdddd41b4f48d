import type { ReplicaStatus as DeployedReplica } from '../deployment/index.js';
import type { NodeReport } from '../../containers/runtime/index.js';
import { labelText, type MetricFamily, type SampleWriter } from './metricFamily.js';

/** What deployer and GPU nodes know, read when somebody scrapes. */
export interface DeploymentSources {
  replicas(): readonly DeployedReplica[];
  /** Replicas that a version is to have: by its owner, or by the autoscaler. */
  wanted(): Iterable<readonly [model: string, version: string, replicas: number]>;
  nodes(): readonly NodeReport[];
}

const STATES: readonly DeployedReplica['state'][] = ['starting', 'warming', 'up', 'draining', 'down'];
const VERSION = ['model', 'version'] as const;

export function deploymentFamilies(sources: DeploymentSources): readonly MetricFamily[] {
  const node = (
    name: string,
    type: 'gauge' | 'counter',
    unit: MetricFamily['unit'],
    help: string,
    read: (report: NodeReport) => number | undefined,
  ): MetricFamily => {
    const write = (to: SampleWriter): void => {
      for (const report of sources.nodes()) {
        const value = read(report);
        if (value !== undefined) to.value(labelText({ node: report.node }), value);
      }
    };
    return { name, type, unit, labels: ['node'], help, write };
  };
  return [
    {
      name: 'windjammer_replicas_wanted',
      type: 'gauge',
      unit: '',
      labels: VERSION,
      help: 'Replicas that the version is to have, by its owner or the autoscaler',
      write: (to) => {
        for (const [model, version, count] of sources.wanted())
          to.value(labelText({ model, version }), count);
      },
    },
    {
      name: 'windjammer_replicas',
      type: 'gauge',
      unit: '',
      labels: [...VERSION, 'state'],
      help: 'Replicas that this server starts: starting, warming (answering its warm-up), up, draining, down (lost, waiting for its next start)',
      write: (to) => writeStates(to, sources.replicas()),
    },
    {
      name: 'windjammer_replica_restarts_total',
      type: 'counter',
      unit: '',
      labels: [...VERSION, 'replica'],
      help: 'Starts of a replica after its first',
      write: (to) => {
        for (const { model, version, replica, restarts } of sources.replicas()) {
          to.value(labelText({ model, version, replica: String(replica) }), restarts);
        }
      },
    },
    node(
      'windjammer_gpu_node_dilation',
      'gauge',
      'ratio',
      'Host time a GPU node takes for its simulated time; above 1.2 its timing means nothing',
      ({ dilation }) => dilation,
    ),
    node('windjammer_gpu_node_replicas', 'gauge', '', 'Replicas on a GPU node', ({ replicas }) => replicas),
    node(
      'windjammer_gpu_node_busy_seconds_total',
      'counter',
      'seconds',
      'Host time that a GPU node had a batch in flight',
      ({ busyHostSeconds }) => busyHostSeconds,
    ),
    node(
      'windjammer_gpu_node_busy_simulated_seconds_total',
      'counter',
      'seconds',
      'The same in its simulated time',
      ({ busySimulatedSeconds }) => busySimulatedSeconds,
    ),
    node(
      'windjammer_gpu_node_clock_lag_seconds',
      'gauge',
      'seconds',
      'The most that a simulated event of a GPU node came late on the host',
      ({ clockLagSeconds }) => clockLagSeconds,
    ),
  ];
}

function writeStates(to: SampleWriter, replicas: readonly DeployedReplica[]): void {
  const versions = new Map<string, Map<string, number>>();
  for (const { model, version, state } of replicas) {
    const key = labelText({ model, version });
    let states = versions.get(key);
    if (states === undefined) versions.set(key, (states = new Map(STATES.map((each) => [each, 0]))));
    states.set(state, (states.get(state) ?? 0) + 1);
  }
  for (const [labels, states] of versions) {
    for (const [state, count] of states) to.value(`${labels},state="${state}"`, count);
  }
}
