import type { Json } from '../../selection/index.js';

/** A stored value and the version that compare-and-set checks: 1 for the first write of a key, then one more each. */
export interface Versioned {
  readonly value: Json;
  readonly version: number;
}

/** What keeps files from being written. */
export const DISK_FAULTS = [
  'diskFull',
  'quotaExceeded',
  'fileTooLarge',
  'readOnly',
  'ioError',
  'displaced',
  'other',
] as const;

/** What keeps a Redis from taking changes, beside what disks have, too. */
const REDIS_FAULTS = [
  'unreachable',
  'accessDenied',
  'loading',
  'memoryFull',
  'snapshotFailed',
  'clusterDown',
  'behind',
  'unknown',
] as const;

export const FAULT_CAUSES = [...DISK_FAULTS, ...REDIS_FAULTS] as const;

/** Why a store keeps nothing at present. */
export type FaultCause = (typeof FAULT_CAUSES)[number];

export interface StoreFault {
  readonly cause: FaultCause;
  /** A sentence for people: what the system said, and where. */
  readonly message: string;
}

export type StoreOutcome =
  | { readonly ok: true; readonly version: number }
  /** Somebody else wrote first; `current` is what is there now. */
  | { readonly ok: false; readonly reason: 'conflict'; readonly current: Versioned | undefined }
  /** It could not be kept, and is undone. With `unknown` nobody can say: an answer was lost, and it may be kept. */
  | ({ readonly ok: false; readonly reason: 'failed' } & StoreFault);

/** An entry as it is kept: its value's JSON is not parsed yet. */
export interface ColdEntry {
  readonly key: string;
  readonly version: number;
  readonly json: string;
}

/** A part of a folder. */
export type ColdSlice =
  | {
      readonly ok: true;
      readonly entries: readonly ColdEntry[];
      /** Where the next one begins; undefined: this was the last. */
      readonly next: string | undefined;
    }
  | ({ readonly ok: false } & StoreFault);

/** Of a write that is made once only. */
export type OnceOutcome =
  | StoreOutcome
  /** These of its marks are there already, and durable: it, or a part of it, has been written before. */
  | { readonly ok: false; readonly reason: 'marked'; readonly marks: readonly string[] };

export interface StoreChange {
  readonly key: string;
  /** undefined: deleted. */
  readonly value: Versioned | undefined;
}

/**
 * State that survives the process: keys with compare-and-set and watch. Reads come from a memory image and never wait;
 * a write shows in the image at once and its callback tells when it is durable. What cannot be kept is taken back:
 * with a failed write goes everything that is not durable yet, and watchers hear of it as of any change.
 * Keys are hierarchical with '/', each part percent-encoded by `storeKey`.
 *
 * Of what there may be millions, keys are cold (`coldKey`): the image has such an entry from when it is held until it is released.
 * Unless it is held, one is not read, a watcher hears of it by chance, and it is only written where that does not
 * depend on what is there: with 'any', or to delete the version that a slice of its folder has just brought.
 */
export interface Store {
  /**
   * The image has a cold key's entry from now on, or as soon as it is read, as often as it is released. Nothing here waits for that.
   * @returns whether it has it already; otherwise `done` is called once it does, or cannot
   */
  hold(key: string, done: (fault: StoreFault | undefined) => void): boolean;
  /** It is held once less. What is not durable yet of it stays. */
  release(key: string): void;
  /**
   * Some hundred entries of a folder of cold keys, as they are kept: those that are there all the time come once at least over all slices.
   * @param from undefined, or `next` of the slice before
   */
  slice(folder: string, from: string | undefined, done: (slice: ColdSlice) => void): void;
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
  /**
   * Like `set`, and in one with it, so that none is there without the other, leaves marks: names of what the write has
   * in it, such as ids of feedback, of at most 512 bytes each. They are the whole store's, and remembered for 24 hours at
   * least. Where one of them is there already nothing is written (`marked`, which goes before `conflict`).
   * @throws StoreError `invalidKey` for a mark that is empty, too long or no well-formed text
   */
  setOnce(
    key: string,
    value: Json | undefined,
    expected: number | 'any',
    marks: readonly string[],
    done?: (outcome: OnceOutcome) => void,
  ): void;
  /** Called after each change under the prefix, the writer's own included; returns the unsubscriber. */
  watch(prefix: string, listener: (change: StoreChange) => void): () => void;
  /** Why writes are refused at present; undefined while they are kept. It tries again by itself. */
  fault(): StoreFault | undefined;
  /** Why what is read here may be old: others change it, and are not heard at present. Always undefined of a store with one owner. */
  staleness(): StoreFault | undefined;
  /** Called when writes begin to be refused, and when they are kept again (undefined); returns the unsubscriber. */
  watchFault(listener: (fault: StoreFault | undefined) => void): () => void;
  /** Calls back when everything written so far is durable or refused. */
  flush(done: () => void): void;
  close(done: () => void): void;
}

/** A store that several processes have at once. */
export interface SharedStore extends Store {
  /** How long ago the image was known to be what all agree on, in ms; 0 while it follows. */
  lagMs(): number;
  /** Writes whose outcome is not known yet. */
  writesUnderWay(): number;
  /** Times that everything was loaded, at the start and after gaps. */
  readonly loads: number;
  /**
   * Makes what this process knows the truth, where changes were lost (`behind`); the others load it.
   * @throws StoreError (as a rejection) `notBehind` where nothing is lost; `unusable` where it is not taken
   */
  repair(): Promise<void>;
}
