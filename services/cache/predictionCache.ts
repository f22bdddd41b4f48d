import { CacheEntry, type CacheWaiter, type Prediction, type PredictionFailure } from './cacheEntry.js';
import { ClockRing } from './clockRing.js';
import { EntryTable } from './entryTable.js';
import { hashWith } from './inputHash.js';
import { HASH_KEY_BYTES, SipHash } from './sipHash.js';

export const DEFAULT_CACHE_BYTES = 32 * 1024 * 1024;

/**
 * What an entry costs beside its input, output and scores. Measured on Node 20 as the growth from 10^5 to 4 * 10^5 entries:
 * 340 bytes of heap (entry, typed array, array buffer, share of the table) and 200 of the allocator, for inputs from 8
 * bytes to 1 KiB.
 */
export const ENTRY_OVERHEAD_BYTES = 540;

export interface CacheOptions {
  /** 0 keeps nothing; concurrent identical evaluations are still shared. */
  readonly limitBytes?: number;
  /**
   * Of the hash, 16 bytes: secret where strangers ask, or they could aim many inputs at one bucket. Zeros by default.
   */
  readonly hashKey?: Uint8Array | undefined;
}

/** Every request is exactly one of hit, join and miss: `hits + joins + misses = requests`. */
export interface CacheStats {
  readonly requests: number;
  readonly hits: number;
  /** Requests that share an evaluation under way. */
  readonly joins: number;
  readonly misses: number;
  /** Predictions that were kept. `insertions = entries + evictions + removals`. */
  readonly insertions: number;
  readonly evictions: number;
  /** Entries of models that went away. */
  readonly removals: number;
  /** Predictions that alone are larger than the whole cache. */
  readonly refusals: number;
  readonly entries: number;
  readonly bytes: number;
  readonly limitBytes: number;
  /** Evaluations under way; their inputs belong to the queues and count there. */
  readonly pending: number;
}

/** What became of one model's lookups. Every miss is an evaluation, which ends in exactly one way. */
export interface ModelLookups {
  readonly hits: number;
  readonly joins: number;
  readonly misses: number;
  /** Kept predictions that made room. */
  readonly evictions: number;
  readonly predicted: number;
  readonly failed: Readonly<Record<PredictionFailure['reason'], number>>;
  /** Evaluations that nobody waited for any more. */
  readonly abandoned: number;
}

class LookupCounts implements ModelLookups {
  hits = 0;
  joins = 0;
  misses = 0;
  evictions = 0;
  predicted = 0;
  readonly failed = { model_error: 0, overload: 0, no_replica: 0, expired: 0, invalid_input: 0 };
  abandoned = 0;
}

/** What `request` found. */
export type Lookup = 'hit' | 'join' | 'miss';

/**
 * The prediction cache of Clipper 4.2: a function cache of (model version, input) with CLOCK eviction by bytes. An
 * evaluation under way is an entry too, so identical concurrent queries share it. A failure goes to all who wait and
 * is never kept.
 */
export class PredictionCache<W> {
  private readonly table = new EntryTable<W>();
  private readonly ring = new ClockRing<W>();
  private bytes = 0;
  private readonly limitBytes: number;
  private readonly inputHash: SipHash;
  /** By the model's number. */
  private readonly models: (LookupCounts | undefined)[] = [];
  private hits = 0;
  private joins = 0;
  private misses = 0;
  private insertions = 0;
  private evictions = 0;
  private removals = 0;
  private refusals = 0;

  /** The entry that the last `request` found or made. */
  current: CacheEntry<W> | undefined;

  /** @throws RangeError when the limit is no number of bytes, or the key of another length. */
  constructor(options: CacheOptions = {}) {
    this.limitBytes = options.limitBytes ?? DEFAULT_CACHE_BYTES;
    this.inputHash = new SipHash(options.hashKey ?? new Uint8Array(HASH_KEY_BYTES));
    if (!Number.isSafeInteger(this.limitBytes) || this.limitBytes < 0) {
      throw new RangeError(
        `limitBytes must be a whole number of bytes, 0 or more (0 keeps nothing), not ${this.limitBytes}`,
      );
    }
  }

  /** The hash that `request` and `peek` take: once a query, for all of its models. */
  hash(input: Uint8Array): number {
    return this.inputHash.hash(input);
  }

  /**
   * Asks for a prediction. On a hit the entry holds it; on a join the waiter hears of it later; on a miss too, and the
   * caller owes the entry an evaluation that ends in `complete`, `fail` or `abandon`. The entry is left in `current`.
   */
  request(model: number, input: Uint8Array, inputHash: number, waiter: CacheWaiter): Lookup {
    const counts = (this.models[model] ??= new LookupCounts());
    const hash = hashWith(inputHash, model);
    let entry = this.table.find(model, input, hash);
    if (entry === undefined) {
      this.misses += 1;
      counts.misses += 1;
      entry = new CacheEntry<W>(model, owned(input), hash);
      this.table.add(entry);
      entry.addWaiter(waiter);
      this.current = entry;
      return 'miss';
    }
    this.current = entry;
    if (entry.ready) {
      this.hits += 1;
      counts.hits += 1;
      entry.referenced = true;
      return 'hit';
    }
    this.joins += 1;
    counts.joins += 1;
    entry.addWaiter(waiter);
    return 'join';
  }

  /** A kept prediction, without counting as a request. */
  peek(model: number, input: Uint8Array, inputHash: number): Prediction | undefined {
    const entry = this.table.find(model, input, hashWith(inputHash, model));
    return entry?.ready === true ? entry : undefined;
  }

  /** The evaluation gave a prediction: keeps it and tells all who wait. */
  complete(entry: CacheEntry<W>, prediction: Prediction): void {
    const counts = this.models[entry.model];
    if (counts !== undefined) counts.predicted += 1;
    const first = settle(entry);
    entry.output = prediction.output;
    entry.scores = prediction.scores;
    this.keep(entry);
    for (let waiter = first; waiter !== undefined;) {
      const next: CacheWaiter | undefined = waiter.nextWaiter;
      waiter.nextWaiter = undefined;
      waiter.onPrediction(entry);
      waiter = next;
    }
  }

  /** The evaluation failed: forgets the entry and tells all who wait. */
  fail(entry: CacheEntry<W>, failure: PredictionFailure): void {
    const counts = this.models[entry.model];
    if (counts !== undefined) counts.failed[failure.reason] += 1;
    const first = settle(entry);
    this.table.remove(entry);
    for (let waiter = first; waiter !== undefined;) {
      const next: CacheWaiter | undefined = waiter.nextWaiter;
      waiter.nextWaiter = undefined;
      waiter.onFailure(failure);
      waiter = next;
    }
  }

  /** One waiter gave up. True when it was the last one: nobody wants the evaluation any more. */
  release(entry: CacheEntry<W>): boolean {
    entry.waiting -= 1;
    return entry.waiting === 0;
  }

  /** Forgets an evaluation that nobody waits for, so that the next request starts a new one. */
  abandon(entry: CacheEntry<W>): void {
    const counts = this.models[entry.model];
    if (counts !== undefined) counts.abandoned += 1;
    settle(entry);
    this.table.remove(entry);
  }

  /** What became of a model's lookups; undefined before the first one. */
  lookups(model: number): ModelLookups | undefined {
    return this.models[model];
  }

  /** Forgets every kept prediction of a model, and its counts. */
  removeModel(model: number): void {
    this.models[model] = undefined;
    for (const entry of this.ring.list()) {
      if (entry.model !== model) continue;
      this.drop(entry);
      this.removals += 1;
    }
  }

  stats(): CacheStats {
    return {
      requests: this.hits + this.joins + this.misses,
      hits: this.hits,
      joins: this.joins,
      misses: this.misses,
      insertions: this.insertions,
      evictions: this.evictions,
      removals: this.removals,
      refusals: this.refusals,
      entries: this.ring.size,
      bytes: this.bytes,
      limitBytes: this.limitBytes,
      pending: this.table.size - this.ring.size,
    };
  }

  private keep(entry: CacheEntry<W>): void {
    const bytes = sizeOf(entry);
    if (bytes > this.limitBytes) {
      this.refusals += 1;
      this.table.remove(entry);
      return;
    }
    while (this.bytes + bytes > this.limitBytes) {
      const victim = this.ring.victim();
      if (victim === undefined) break;
      this.drop(victim);
      this.evictions += 1;
      const counts = this.models[victim.model];
      if (counts !== undefined) counts.evictions += 1;
    }
    entry.ready = true;
    entry.bytes = bytes;
    this.ring.add(entry);
    this.bytes += bytes;
    this.insertions += 1;
  }

  private drop(entry: CacheEntry<W>): void {
    this.ring.remove(entry);
    this.bytes -= entry.bytes;
    this.table.remove(entry);
  }
}

/** Ends an entry's evaluation; returns those who waited for it. */
function settle<W>(entry: CacheEntry<W>): CacheWaiter | undefined {
  const first = entry.firstWaiter;
  entry.firstWaiter = undefined;
  entry.lastWaiter = undefined;
  entry.waiting = 0;
  entry.work = undefined;
  return first;
}

/** Arrays of so many bytes lie on the heap by themselves, until somebody asks for their buffer: a copy costs less than that. */
const HEAP_BYTES = 64;

/** A view keeps the whole buffer behind it alive, so a kept input gets a buffer of its own size. */
function owned(input: Uint8Array): Uint8Array {
  if (input.length <= HEAP_BYTES) return new Uint8Array(input);
  return input.byteLength === input.buffer.byteLength ? input : new Uint8Array(input);
}

function sizeOf<W>({ input, output, scores }: CacheEntry<W>): number {
  // Two bytes a character is what the widest strings take.
  return ENTRY_OVERHEAD_BYTES + input.byteLength + 2 * output.length + (scores?.buffer.byteLength ?? 0);
}
