import type { Json } from '../../selection/index.js';

/** A stored value and the version that compare-and-set checks: 1 for the first write of a key, then one more each. */
export interface Versioned {
  readonly value: Json;
  readonly version: number;
}

export type StoreOutcome =
  | { readonly ok: true; readonly version: number }
  /** Somebody else wrote first; `current` is what is there now. */
  | { readonly ok: false; readonly reason: 'conflict'; readonly current: Versioned | undefined }
  | { readonly ok: false; readonly reason: 'failed'; readonly message: string };

export interface StoreChange {
  readonly key: string;
  /** undefined: deleted. */
  readonly value: Versioned | undefined;
}

export interface LogEntry {
  /** Grows by one an entry, from 1. */
  readonly sequence: number;
  readonly value: Json;
}

/**
 * State that survives the process: keys with compare-and-set and watch, and append logs. Reads come from a memory
 * image and never wait; a write shows in the image at once and its callback tells when it is durable.
 * Keys are hierarchical with '/', each part percent-encoded by `storeKey`.
 */
export interface Store {
  get(key: string): Versioned | undefined;
  /** Keys with this prefix and their values, in key order. */
  list(prefix: string): readonly { readonly key: string; readonly entry: Versioned }[];
  /**
   * Writes when the key's version is `expected` (0: absent; 'any': whatever is there). `value` undefined deletes.
   */
  set(
    key: string,
    value: Json | undefined,
    expected: number | 'any',
    done?: (outcome: StoreOutcome) => void,
  ): void;
  /** Called after each change under the prefix, the writer's own included; returns the unsubscriber. */
  watch(prefix: string, listener: (change: StoreChange) => void): () => void;
  append(log: string, value: Json, done?: (outcome: StoreOutcome) => void): void;
  /** Entries after `afterSequence`, oldest first. */
  read(log: string, afterSequence: number, limit: number): readonly LogEntry[];
  /** Calls back when everything written so far is durable. */
  flush(done: () => void): void;
  close(done: () => void): void;
}
