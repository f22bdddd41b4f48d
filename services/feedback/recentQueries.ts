import type { ArmPrediction, Features, Selection } from '../../selection/index.js';
import type { LearnedState } from './learnedState.js';

/** What feedback needs of a query: its state, what was selected, and what was answered. */
export interface JudgedQuery {
  readonly state: LearnedState;
  readonly selection: Selection;
  readonly predictions: readonly ArmPrediction[];
  /** That it came with, where its policy looks at them. */
  readonly features: Features | undefined;
  /** False when the selection was no choice of the policy: there is nothing to learn from. */
  readonly chosen: boolean;
  /** Arms that had not answered when the query's time was over. */
  readonly late?: readonly string[] | undefined;
  /** Of models that have a version on trial. */
  readonly tried?: readonly TriedTask[] | undefined;
}

/** A model that was asked while a version of it was on trial: plain data. */
export interface TriedTask {
  readonly model: string;
  /** The trial's number. */
  readonly trial: number;
  /** With versions as arms, in both. */
  readonly selection: Selection;
  readonly predictions: readonly ArmPrediction[];
}

/** A query that is remembered as it is. */
export interface RememberedQuery {
  readonly id: string;
  /** Its place in the memory; set by the memory. */
  slot: number;
  judged(): JudgedQuery;
}

const NOBODY = -1;

/** Characters of outputs: a model may answer with millions of them. */
const MOST_CHARACTERS = 128 * 1024 * 1024;

/**
 * A memory of the last so many queries by their ids, for feedback that names one; of fewer where their outputs are long.
 *
 * A ring of columns in order of arrival, with a hash table of slot numbers beside it. A query enters as an object; one
 * that asked a single model is reduced to its columns once that has answered, so that tens of thousands of
 * remembered queries are not as many objects for the garbage collector to carry along (2 of 6 µs a query before).
 *
 *     slot        0     1     2   …
 *     ids        'a'   'b'   'c'
 *     queries     -     -   object      while it is in flight, and when it asked several models
 *     states      s     s     -         from here on: once reduced
 *     arms       'm'   'm'    -
 *     outputs    '7'    -     -         undefined: the model gave none
 *     propensity 0.5   0.5    0         0: no choice of the policy
 *     features    -     f     -         where the policy looks at them
 */
export class RecentQueries<Q extends RememberedQuery> {
  private readonly ids: (string | undefined)[];
  private readonly queries: (Q | undefined)[];
  private readonly states: (LearnedState | undefined)[];
  private readonly arms: (string | undefined)[];
  private readonly outputs: (string | undefined)[];
  private readonly features: (Features | undefined)[];
  private readonly propensities: Float64Array;
  /** 1: feedback has named the query. */
  private readonly judgements: Uint8Array;
  private readonly hashes: Int32Array;
  /** The next slot of the same bucket. */
  private readonly chain: Int32Array;
  private readonly buckets: Int32Array;
  private readonly characters: Float64Array;
  private held = 0;
  private next = 0;
  private count = 0;

  /** @throws RangeError when the capacity is no whole number above 0. */
  constructor(
    private readonly capacity: number,
    private readonly mostCharacters = MOST_CHARACTERS,
  ) {
    if (!Number.isSafeInteger(capacity) || capacity < 1) {
      throw new RangeError(`the memory of recent queries needs a whole number above 0, not ${capacity}`);
    }
    const column = <T>(): (T | undefined)[] => new Array<T | undefined>(capacity).fill(undefined);
    this.ids = column();
    this.queries = column();
    this.states = column();
    this.arms = column();
    this.outputs = column();
    this.features = column();
    this.propensities = new Float64Array(capacity);
    this.characters = new Float64Array(capacity);
    this.judgements = new Uint8Array(capacity);
    this.hashes = new Int32Array(capacity);
    this.chain = new Int32Array(capacity).fill(NOBODY);
    this.buckets = new Int32Array(2 ** Math.ceil(Math.log2(capacity))).fill(NOBODY);
  }

  get size(): number {
    return this.count;
  }

  /** Remembers a query in place of the oldest one. A repeated id means the later query. */
  add(query: Q): void {
    if (this.count === this.capacity) this.forgetOldest();
    const slot = this.next;
    this.next = slot + 1 === this.capacity ? 0 : slot + 1;
    this.count += 1;
    const hash = hashText(query.id);
    const bucket = hash & (this.buckets.length - 1);
    query.slot = slot;
    this.ids[slot] = query.id;
    this.queries[slot] = query;
    this.judgements[slot] = 0;
    this.hashes[slot] = hash;
    this.chain[slot] = this.buckets[bucket];
    this.buckets[bucket] = slot;
  }

  /**
   * Keeps of a query that asked one model only what feedback needs. Nothing happens when it is forgotten already.
   * @param output undefined when the model gave none.
   * @param propensity 0 when the selection was no choice of the policy.
   */
  reduce(
    query: Q,
    state: LearnedState,
    arm: string,
    output: string | undefined,
    propensity: number,
    features?: Features,
  ): void {
    const { slot } = query;
    if (this.queries[slot] !== query) return;
    this.queries[slot] = undefined;
    this.states[slot] = state;
    this.arms[slot] = arm;
    this.outputs[slot] = output;
    this.features[slot] = features;
    this.propensities[slot] = propensity;
  }

  /** So many characters more of outputs are kept of a query: the oldest ones make room, as long as there are others. */
  hold(query: Q, characters: number): void {
    const { slot } = query;
    if (this.ids[slot] !== query.id) return;
    this.characters[slot] += characters;
    this.held += characters;
    while (this.held > this.mostCharacters && this.count > 1) this.forgetOldest();
  }

  /** The query itself, while it is remembered as an object. */
  find(id: string): Q | undefined {
    const slot = this.slotOf(id);
    return slot === NOBODY ? undefined : this.queries[slot];
  }

  /** What feedback on this query is about; undefined when it is forgotten. */
  judged(id: string): JudgedQuery | undefined {
    const slot = this.slotOf(id);
    if (slot === NOBODY) return undefined;
    const query = this.queries[slot];
    if (query !== undefined) return query.judged();
    const state = this.states[slot];
    const arm = this.arms[slot];
    if (state === undefined || arm === undefined) return undefined;
    const output = this.outputs[slot];
    const propensity = this.propensities[slot];
    return {
      state,
      selection: { arms: [arm], propensity },
      predictions: output === undefined ? [] : [{ arm, output }],
      features: this.features[slot],
      chosen: propensity > 0,
    };
  }

  /** Whether this is the first judgement of the query; from now on it is judged. */
  judgeOnce(id: string): boolean {
    const slot = this.slotOf(id);
    if (slot === NOBODY || this.judgements[slot] === 1) return false;
    this.judgements[slot] = 1;
    return true;
  }

  /** Whether feedback has named the query. */
  isJudged(id: string): boolean {
    const slot = this.slotOf(id);
    return slot !== NOBODY && this.judgements[slot] === 1;
  }

  private slotOf(id: string): number {
    const hash = hashText(id);
    let slot = this.buckets[hash & (this.buckets.length - 1)];
    while (slot !== NOBODY && (this.hashes[slot] !== hash || this.ids[slot] !== id)) slot = this.chain[slot];
    return slot;
  }

  private forgetOldest(): void {
    const slot = (this.next - this.count + this.capacity) % this.capacity;
    this.unlink(slot);
    this.held -= this.characters[slot];
    this.characters[slot] = 0;
    this.ids[slot] = undefined;
    this.queries[slot] = undefined;
    this.states[slot] = undefined;
    this.arms[slot] = undefined;
    this.outputs[slot] = undefined;
    this.features[slot] = undefined;
    this.count -= 1;
  }

  private unlink(slot: number): void {
    const bucket = this.hashes[slot] & (this.buckets.length - 1);
    let before = NOBODY;
    let at = this.buckets[bucket];
    while (at !== slot && at !== NOBODY) {
      before = at;
      at = this.chain[at];
    }
    if (before === NOBODY) this.buckets[bucket] = this.chain[slot];
    else this.chain[before] = this.chain[slot];
  }
}

/** 32-bit FNV-1a over UTF-16 code units, with a final mix. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}
