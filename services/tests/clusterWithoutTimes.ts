import type { ClusterAnswer } from '../management/index.js';

/** What is the same for every frontend of a cluster. */
export function clusterWithoutTimes({ frontends, nodes }: ClusterAnswer): object {
  return {
    frontends: frontends.map((one) => ({ ...one, last_word_seconds: 0 })),
    nodes: nodes.map((one) => ({ ...one, last_word_seconds: 0, round_trip_seconds: 0 })),
  };
}
