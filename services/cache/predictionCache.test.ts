import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ENTRY_OVERHEAD_BYTES, PredictionCache, type CacheWaiter, type Prediction } from './index.js';
import { CacheEntry } from './cacheEntry.js';
import { EntryTable } from './entryTable.js';

class Waiter implements CacheWaiter {
  nextWaiter: CacheWaiter | undefined;
  readonly heard: string[] = [];
  onPrediction(prediction: Prediction): void {
    this.heard.push(prediction.output);
  }
  onFailure(failure: { reason: string }): void {
    this.heard.push(`failed: ${failure.reason}`);
  }
}

function bytes(...values: number[]): Uint8Array {
  return Uint8Array.from(values);
}

function cacheOf(limitBytes?: number) {
  const cache = new PredictionCache<string>(limitBytes === undefined ? {} : { limitBytes });
  const ask = (input: Uint8Array, waiter = new Waiter(), model = 1) => {
    const lookup = cache.request(model, input, cache.hash(input), waiter);
    const entry = cache.current;
    if (entry === undefined) throw new Error('a request leaves an entry');
    return { lookup, entry, waiter };
  };
  const put = (input: Uint8Array, output = 'y', model = 1) => {
    const { entry } = ask(input, new Waiter(), model);
    cache.complete(entry, { output, scores: undefined });
  };
  return { cache, ask, put };
}

describe('prediction cache', () => {
  it('shares one evaluation among concurrent requests, then hits', () => {
    const { cache, ask } = cacheOf();
    const first = ask(bytes(1, 2));
    const others = Array.from({ length: 19 }, () => ask(bytes(1, 2)));
    expect(first.lookup).toBe('miss');
    expect(others.every(({ lookup, entry }) => lookup === 'join' && entry === first.entry)).toBe(true);
    cache.complete(first.entry, { output: 'y', scores: undefined });
    for (const { waiter } of [first, ...others]) expect(waiter.heard).toEqual(['y']);
    expect(ask(bytes(1, 2)).lookup).toBe('hit');
    expect(cache.stats()).toMatchObject({
      requests: 21,
      hits: 1,
      joins: 19,
      misses: 1,
      entries: 1,
      pending: 0,
    });
  });

  it('tells a failure to all who wait and keeps nothing of it', () => {
    const { cache, ask } = cacheOf();
    const first = ask(bytes(1));
    const second = ask(bytes(1));
    cache.fail(first.entry, { reason: 'model_error', message: 'boom' });
    expect(first.waiter.heard).toEqual(['failed: model_error']);
    expect(second.waiter.heard).toEqual(['failed: model_error']);
    expect(ask(bytes(1)).lookup).toBe('miss');
    expect(cache.stats()).toMatchObject({ entries: 0, bytes: 0, pending: 1 });
  });

  it('keeps models and inputs apart, to the last byte', () => {
    const { ask, put } = cacheOf();
    put(bytes(1, 2, 3), 'first');
    expect(ask(bytes(1, 2, 3), new Waiter(), 2).lookup).toBe('miss');
    expect(ask(bytes(1, 2)).lookup).toBe('miss');
    expect(ask(bytes(1, 2, 4)).lookup).toBe('miss');
    expect(ask(bytes(1, 2, 3)).entry.output).toBe('first');
  });

  it('compares whole keys where hashes collide', () => {
    const table = new EntryTable<string>();
    const one = new CacheEntry<string>(1, bytes(1), 77);
    const other = new CacheEntry<string>(1, bytes(2), 77);
    table.add(one);
    table.add(other);
    expect(table.find(1, bytes(1), 77)).toBe(one);
    expect(table.find(1, bytes(2), 77)).toBe(other);
    expect(table.find(1, bytes(3), 77)).toBeUndefined();
    table.remove(one);
    expect(table.find(1, bytes(1), 77)).toBeUndefined();
    expect(table.find(1, bytes(2), 77)).toBe(other);
  });

  it('counts input, output and overhead against its limit, and evicts by CLOCK', () => {
    const entryBytes = ENTRY_OVERHEAD_BYTES + 10 + 2;
    const { cache, ask, put } = cacheOf(3 * entryBytes);
    const input = (n: number) => new Uint8Array(10).fill(n);
    for (const n of [1, 2, 3]) put(input(n));
    expect(cache.stats().bytes).toBe(3 * entryBytes);
    // 1 was used since: the hand passes over it once, and takes 2.
    expect(ask(input(1)).lookup).toBe('hit');
    put(input(4));
    expect(cache.stats()).toMatchObject({ entries: 3, evictions: 1, bytes: 3 * entryBytes });
    expect(cache.peek(1, input(2), cache.hash(input(2)))).toBeUndefined();
    for (const n of [1, 3, 4]) expect(cache.peek(1, input(n), cache.hash(input(n)))?.output).toBe('y');
  });

  it('refuses an entry that is larger than the cache, and counts it', () => {
    const { cache, ask } = cacheOf(1000);
    const big = ask(new Uint8Array(1000));
    cache.complete(big.entry, { output: 'y', scores: undefined });
    expect(big.waiter.heard).toEqual(['y']);
    expect(cache.stats()).toMatchObject({ refusals: 1, entries: 0, bytes: 0, pending: 0 });
    expect(ask(new Uint8Array(1000)).lookup).toBe('miss');
  });

  it('copies an input that is part of a larger buffer', () => {
    const { ask, cache } = cacheOf();
    const pool = new Uint8Array(8192);
    const { entry } = ask(pool.subarray(0, 8));
    expect(entry.input.buffer.byteLength).toBe(8);
    pool[0] = 9;
    expect(entry.input[0]).toBe(0);
    cache.complete(entry, { output: 'y', scores: undefined });
    expect(ask(new Uint8Array(8)).lookup).toBe('hit');
  });

  it('forgets a model, and what nobody waits for', () => {
    const { cache, ask, put } = cacheOf();
    put(bytes(1), 'y', 1);
    put(bytes(1), 'y', 2);
    cache.removeModel(1);
    expect(cache.stats()).toMatchObject({ entries: 1, removals: 1 });
    const { entry } = ask(bytes(5));
    ask(bytes(5));
    expect(cache.release(entry)).toBe(false);
    expect(cache.release(entry)).toBe(true);
    cache.abandon(entry);
    expect(cache.stats().pending).toBe(0);
  });

  it.each([-1, 0.5, NaN])('refuses a limit of %d bytes', (limitBytes) => {
    expect(() => new PredictionCache({ limitBytes })).toThrow(/limitBytes must be a whole number/);
  });

  it('agrees with a plain map under any sequence, and its numbers add up', () => {
    const step = fc.record({ key: fc.nat(40), fails: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), fc.integer({ min: 0, max: 20 }), (steps, room) => {
        const { cache, ask } = cacheOf(room * (ENTRY_OVERHEAD_BYTES + 4));
        let requests = 0;
        let insertions = 0;
        for (const { key, fails } of steps) {
          requests += 1;
          const { lookup, entry } = ask(bytes(key, 0));
          if (lookup === 'hit') expect(entry.output).toBe(`${key % 10}`);
          else if (fails) cache.fail(entry, { reason: 'model_error', message: '' });
          else {
            insertions += 1;
            cache.complete(entry, { output: `${key % 10}`, scores: undefined });
          }
          const stats = cache.stats();
          expect(stats.bytes).toBeLessThanOrEqual(stats.limitBytes);
          expect(stats.hits + stats.joins + stats.misses).toBe(requests);
          expect(stats.insertions).toBe(stats.entries + stats.evictions + stats.removals);
          expect(stats.insertions + stats.refusals).toBe(insertions);
        }
      }),
      { seed: 9, numRuns: 200 },
    );
  });
});
