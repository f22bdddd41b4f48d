import type { ArmPrediction, Feedback, Json, Selection, SelectionPolicy } from '../../selection/index.js';
import type { Store, StoreOutcome, Versioned } from '../store/index.js';

/** Called when feedback that was learned is on disk (true), or could not be written now (false). */
export type Durable = (durable: boolean) => void;

interface Observation {
  readonly selection: Selection;
  readonly predictions: readonly ArmPrediction[];
  readonly feedback: Feedback;
  done: Durable | undefined;
}

/** What every state of an application shares. */
export interface LearnedStateOwner {
  /** The application's name. */
  readonly application: string;
  readonly policy: SelectionPolicy;
  /** The state before any feedback, with the arms of now. */
  initial(): Json;
  /** A stored state with the arms of now; the initial one when it cannot be read. */
  adopt(value: Json): Json;
  readonly store: Store;
  /** Something of it is on disk that was not before. */
  onLearned(key: string): void;
  onWriteFailed(key: string, message: string): void;
}

/**
 * Observations kept for a conflict. When the store stays away for longer than this many, the oldest can no longer be
 * replayed over somebody else's state; they stay in this process's.
 */
const MOST_PENDING = 100_000;

/**
 * The selection state of one application and context: learned in memory at once, written behind with compare-and-set.
 * One write is under way at a time and takes along everything learned before it. When another frontend wrote first,
 * its state is taken and what was learned here since is observed again on top.
 */
export class LearnedState {
  state: Json;
  private version: number;
  private pending: Observation[] = [];
  private writing = false;
  private readonly flushes: (() => void)[] = [];

  constructor(
    readonly key: string,
    private readonly owner: LearnedStateOwner,
  ) {
    const stored = owner.store.get(key);
    this.version = stored?.version ?? 0;
    this.state = stored === undefined ? owner.initial() : owner.adopt(stored.value);
  }

  get application(): string {
    return this.owner.application;
  }

  /** Nothing waits to be written. */
  get clean(): boolean {
    return this.pending.length === 0 && !this.writing;
  }

  observe(
    selection: Selection,
    predictions: readonly ArmPrediction[],
    feedback: Feedback,
    done: Durable | undefined,
  ): void {
    const next = this.owner.policy.observe(this.state, selection, predictions, feedback);
    if (next === this.state) {
      done?.(true);
      return;
    }
    this.state = next;
    if (this.pending.length >= MOST_PENDING) this.pending.shift()?.done?.(false);
    this.pending.push({ selection, predictions, feedback, done });
    this.write();
  }

  /** Arms were linked or unlinked. The next write takes it along: it follows from the links, which are stored. */
  reconcile(arms: readonly string[]): void {
    this.state = this.owner.policy.reconcile(this.state, arms);
  }

  /** The store's value changed, by this frontend or another. */
  onStored(value: Versioned | undefined): void {
    // A write of ours under way, or still to come, finds out by itself.
    if (!this.clean) return;
    if (value === undefined) {
      this.version = 0;
      this.state = this.owner.initial();
    } else if (value.version !== this.version) {
      this.version = value.version;
      this.state = this.owner.adopt(value.value);
    }
  }

  /** Calls back once everything learned so far is written, or its write has failed. */
  flush(done: () => void): void {
    if (this.clean) {
      done();
      return;
    }
    this.flushes.push(done);
    this.write();
  }

  /** The store takes writes again. */
  resume(): void {
    this.write();
  }

  private write(): void {
    if (this.writing || this.pending.length === 0) return;
    this.writing = true;
    const taken = this.pending.length;
    this.owner.store.set(this.key, this.state, this.version, (outcome) => this.onWritten(outcome, taken));
  }

  private onWritten(outcome: StoreOutcome, taken: number): void {
    this.writing = false;
    if (outcome.ok) {
      this.version = outcome.version;
      const written = this.pending.splice(0, taken);
      this.owner.onLearned(this.key);
      for (const observation of written) observation.done?.(true);
    } else if (outcome.reason === 'conflict') {
      this.rebase(outcome.current);
    } else {
      this.owner.onWriteFailed(this.key, outcome.message);
      for (const observation of this.pending) {
        const { done } = observation;
        observation.done = undefined;
        done?.(false);
      }
      this.flushed();
      return;
    }
    if (this.pending.length > 0) this.write();
    else this.flushed();
  }

  private rebase(current: Versioned | undefined): void {
    this.version = current?.version ?? 0;
    let state = current === undefined ? this.owner.initial() : this.owner.adopt(current.value);
    for (const { selection, predictions, feedback } of this.pending) {
      state = this.owner.policy.observe(state, selection, predictions, feedback);
    }
    this.state = state;
  }

  private flushed(): void {
    // Somebody else may have written while our write was on its way.
    if (this.clean) this.onStored(this.owner.store.get(this.key));
    for (const done of this.flushes.splice(0)) done();
  }
}
