import type { NodeLink } from '../../containers/runtime/index.js';
import { CLUSTER_METRICS } from '../metrics/index.js';
import { familiesOf, labelText, type MetricFamily, type ValueWriter } from './metricFamily.js';

/** A node of the cluster, as this frontend sees it. */
export interface MeasuredNode {
  readonly name: string;
  readonly alive: boolean;
  readonly connected: boolean;
  readonly cordoned: boolean;
  readonly last_word_seconds: number;
  readonly replicas: number;
}

export interface MeasuredFrontend {
  readonly name: string;
  readonly alive: boolean;
  readonly placing: boolean;
  readonly last_word_seconds: number;
}

/** What is read of other processes when somebody scrapes. */
export interface ClusterSources {
  /** Connections to nodes in processes of their own. */
  readonly links: () => readonly NodeLink[];
  /** undefined: there is no cluster. */
  readonly members: () =>
    { readonly frontends: readonly MeasuredFrontend[]; readonly nodes: readonly MeasuredNode[] } | undefined;
}

/** Series of each metric: whoever joins names itself. */
const MOST_MEMBERS = 256;

/** Nodes in other processes, and the other frontends. */
export function clusterFamilies({ links, members }: ClusterSources): readonly MetricFamily[] {
  const eachLink = (read: (link: NodeLink) => number | undefined) => (to: ValueWriter<'node'>) => {
    for (const link of links().slice(0, MOST_MEMBERS)) {
      const value = read(link);
      if (value !== undefined) to.value(labelText({ node: link.node }), value);
    }
  };
  const eachNode = (read: (node: MeasuredNode) => number) => (to: ValueWriter<'node'>) => {
    for (const node of (members()?.nodes ?? []).slice(0, MOST_MEMBERS))
      to.value(labelText({ node: node.name }), read(node));
  };
  // Names of frontends are new with each start: of those that are away nothing is kept.
  const eachFrontend = (read: (frontend: MeasuredFrontend) => number) => (to: ValueWriter<'frontend'>) => {
    const alive = (members()?.frontends ?? []).filter((one) => one.alive);
    for (const one of alive.slice(0, MOST_MEMBERS)) to.value(labelText({ frontend: one.name }), read(one));
  };
  return familiesOf(CLUSTER_METRICS, {
    windjammer_node_connected: eachLink(({ isConnected }) => Number(isConnected)),
    windjammer_node_round_trip_seconds: eachLink(({ roundTripSeconds }) => roundTripSeconds),
    windjammer_node_alive: eachNode(({ alive }) => Number(alive)),
    windjammer_node_last_word_seconds: eachNode(({ last_word_seconds: seconds }) => seconds),
    windjammer_node_cordoned: eachNode(({ cordoned }) => Number(cordoned)),
    windjammer_node_replicas_placed: eachNode(({ replicas }) => replicas),
    windjammer_frontend_places: eachFrontend(({ placing }) => Number(placing)),
    windjammer_frontend_last_word_seconds: eachFrontend(({ last_word_seconds: seconds }) => seconds),
    windjammer_cluster_members: (to) => {
      const found = members();
      if (found === undefined) return;
      for (const [kind, of] of [
        ['frontend', found.frontends],
        ['node', found.nodes],
      ] as const) {
        const alive = of.filter((one) => one.alive).length;
        to.value(labelText({ kind, state: 'alive' }), alive);
        to.value(labelText({ kind, state: 'away' }), of.length - alive);
      }
    },
  });
}
