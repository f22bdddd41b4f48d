import { Counter, Gauge, type Registry } from 'prom-client';
import type { CacheStats } from '../cache/index.js';

/** The prediction cache counts for itself; this hands its numbers over when somebody scrapes. */
export function addCacheMetrics(registry: Registry, stats: () => CacheStats): void {
  const registers = [registry];
  const counters: readonly (readonly [name: string, help: string, read: (stats: CacheStats) => number])[] = [
    ['requests', 'Lookups; the sum of hits, joins and misses', (s) => s.requests],
    ['hits', 'Lookups that found a prediction', (s) => s.hits],
    ['joins', 'Lookups that joined an evaluation under way', (s) => s.joins],
    ['misses', 'Lookups that asked the model', (s) => s.misses],
    ['evictions', 'Predictions that made room', (s) => s.evictions],
  ];
  for (const [name, help, read] of counters) {
    new Counter({
      name: `windjammer_cache_${name}_total`,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read(stats()));
      },
    });
  }
  const gauges: readonly (readonly [name: string, help: string, read: (stats: CacheStats) => number])[] = [
    ['entries', 'Predictions in the cache', (s) => s.entries],
    ['bytes', 'Bytes that they take', (s) => s.bytes],
    ['limit_bytes', 'Bytes that they may take', (s) => s.limitBytes],
  ];
  for (const [name, help, read] of gauges) {
    new Gauge({
      name: `windjammer_cache_${name}`,
      help,
      registers,
      collect() {
        this.set(read(stats()));
      },
    });
  }
}
