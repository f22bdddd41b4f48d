import type { ClusterView } from './dashboard/index.js';
import type { ClusterAnswer } from './management/index.js';

/** A cluster as the dashboard shows it. @param self name of this frontend */
export function clusterView({ frontends, nodes }: ClusterAnswer, self: string): ClusterView {
  return {
    frontends: frontends.map(({ name, query, alive, placing, last_word_seconds: lastWordSeconds }) => ({
      name,
      self: name === self,
      address: query,
      alive,
      places: placing,
      lastWordSeconds,
    })),
    nodes: nodes.map((of) => ({
      name: of.name,
      address: of.address,
      gpus: of.gpus,
      alive: of.alive,
      connected: of.connected,
      problem: of.problem ?? null,
      cordoned: of.cordoned,
      replicas: of.replicas,
      roundTripSeconds: of.round_trip_seconds ?? null,
      lastWordSeconds: of.last_word_seconds,
    })),
  };
}
