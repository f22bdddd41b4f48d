import type { ClusterAnswer } from '../management/index.js';
import { table } from './printing.js';

export function frontendTable({ frontends }: ClusterAnswer): string {
  return table(
    ['frontend', 'state', 'query', 'management', 'last word'],
    frontends.map(({ name, alive, placing, query, management, last_word_seconds: seconds }) => [
      name,
      !alive ? 'away' : placing ? 'places replicas' : 'alive',
      query,
      management,
      ago(seconds),
    ]),
  );
}

export function nodeTable({ nodes }: ClusterAnswer): string {
  return table(
    ['node', 'state', 'address', 'gpus', 'replicas', 'last word'],
    nodes.map(({ name, alive, connected, cordoned, address, gpus, replicas, last_word_seconds: seconds }) => [
      name,
      [
        ...(alive ? ['alive'] : ['away']),
        ...(connected ? [] : ['not connected']),
        ...(cordoned ? ['drained'] : []),
      ].join(', '),
      address,
      gpus.join(','),
      String(replicas),
      ago(seconds),
    ]),
  );
}

/** A word is half a second old at most, or somebody is late. */
function ago(seconds: number): string {
  return seconds < 1 ? 'now' : `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s ago`;
}
