import type { NodeLink } from '../../containers/runtime/index.js';
import { labelText, type MetricFamily, type SampleWriter } from './metricFamily.js';

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
  const gauge = (
    name: string,
    unit: MetricFamily['unit'],
    labels: readonly string[],
    help: string,
    write: (to: SampleWriter) => void,
  ): MetricFamily => ({ name, type: 'gauge', unit, labels, help, write });
  const eachLink = (read: (link: NodeLink) => number | undefined) => (to: SampleWriter) => {
    for (const link of links().slice(0, MOST_MEMBERS)) {
      const value = read(link);
      if (value !== undefined) to.value(labelText({ node: link.node }), value);
    }
  };
  const eachNode = (read: (node: MeasuredNode) => number) => (to: SampleWriter) => {
    for (const node of (members()?.nodes ?? []).slice(0, MOST_MEMBERS))
      to.value(labelText({ node: node.name }), read(node));
  };
  // Names of frontends are new with each start: of those that are away nothing is kept.
  const eachFrontend = (read: (frontend: MeasuredFrontend) => number) => (to: SampleWriter) => {
    const alive = (members()?.frontends ?? []).filter((one) => one.alive);
    for (const one of alive.slice(0, MOST_MEMBERS)) to.value(labelText({ frontend: one.name }), read(one));
  };
  return [
    gauge(
      'windjammer_node_connected',
      '',
      ['node'],
      'Whether this frontend has a connection to a node in another process: 1 or 0',
      eachLink(({ isConnected }) => Number(isConnected)),
    ),
    gauge(
      'windjammer_node_round_trip_seconds',
      'seconds',
      ['node'],
      'How long the last ping of this frontend to the node, and its answer, took; two a second',
      eachLink(({ roundTripSeconds }) => roundTripSeconds),
    ),
    gauge(
      'windjammer_node_alive',
      '',
      ['node'],
      'Whether the cluster hears of the node: 1 or 0; nodes that were lost are listed for an hour',
      eachNode(({ alive }) => Number(alive)),
    ),
    gauge(
      'windjammer_node_last_word_seconds',
      'seconds',
      ['node'],
      'How long ago the cluster heard of the node; while Redis is away that grows for all',
      eachNode(({ last_word_seconds: seconds }) => seconds),
    ),
    gauge(
      'windjammer_node_cordoned',
      '',
      ['node'],
      'Whether the node is drained, and gets no replicas: 1 or 0',
      eachNode(({ cordoned }) => Number(cordoned)),
    ),
    gauge(
      'windjammer_node_replicas_placed',
      '',
      ['node'],
      'Replicas that are to run on the node; those that do are windjammer_gpu_node_replicas',
      eachNode(({ replicas }) => replicas),
    ),
    gauge(
      'windjammer_frontend_places',
      '',
      ['frontend'],
      'Whether a frontend of the cluster says which node runs which replica: one of them does, 1 or 0',
      eachFrontend(({ placing }) => Number(placing)),
    ),
    gauge(
      'windjammer_frontend_last_word_seconds',
      'seconds',
      ['frontend'],
      'How long ago the cluster heard of a frontend that is alive',
      eachFrontend(({ last_word_seconds: seconds }) => seconds),
    ),
    gauge(
      'windjammer_cluster_members',
      '',
      ['kind', 'state'],
      'Frontends and nodes of the cluster, alive or away; those that were lost are counted for an hour',
      (to) => {
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
    ),
  ];
}
