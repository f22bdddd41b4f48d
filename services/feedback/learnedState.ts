import type {
  ArmOutcome,
  ArmPrediction,
  Feedback,
  Features,
  Json,
  Selection,
  SelectionPolicy,
} from '../../selection/index.js';
import type { OnceOutcome, Store, StoreOutcome, Versioned } from '../store/index.js';
import { kept, opened } from './keptForm.js';
import { PendingObservations } from './pendingObservations.js';

/** What became of feedback. */
export type Learned =
  /** It is on disk. */
  | 'learned'
  /** It was learned in memory and could not be written now. */
  | 'unwritten'
  /** One of its marks was there: it had been learned before. */
  | 'repeated'
  /** The state is pinned and learns nothing. */
  | 'pinned'
  /** The policy failed on it. */
  | 'poisonous';

/** @param error with `poisonous`: what the policy said */
export type LearnedDone = (became: Learned, error?: unknown) => void;

/** Something to be learned once: feedback on a selection, or what became of queries. */
export type Observation = ObservedFeedback | NoticedQueries | Settling;

export interface ObservedFeedback extends ToLearn {
  readonly selection: Selection;
  readonly predictions: readonly ArmPrediction[];
  readonly feedback: Feedback;
  /** Of the query, where the policy looks at them. */
  readonly features?: Features | undefined;
}

/** Of each query what became of the arms that were asked, for a policy that wants to know. */
export interface NoticedQueries extends ToLearn {
  readonly noticed: readonly (readonly ArmOutcome[])[];
}

/** Nothing has happened: what the policy has made of the state by itself is written. */
export interface Settling extends ToLearn {
  readonly isSettling: true;
}

interface ToLearn {
  /** Names by which the store knows it: with one that is there already nothing is learned. */
  readonly marks?: readonly string[] | undefined;
  /** Whoever brought it brings it again when it could not be written: it is not kept here. */
  readonly isKeptElsewhere?: boolean | undefined;
  /** Called once. */
  done: LearnedDone | undefined;
  /** What the policy said, when it failed on it. */
  error?: unknown;
}

/** What every state of an application shares. */
export interface LearnedStateOwner {
  /** The application's name. */
  readonly application: string;
  readonly policy: SelectionPolicy;
  /** The state before any feedback, with the arms of now. */
  initial(): Json;
  /** A state with the arms and the parameters of now. */
  fit(state: Json): Json;
  /** A stored state, fitted; the initial one when it cannot be read. */
  adopt(value: Json): Json;
  readonly store: Store;
  /** Something of it is on disk that was not before. */
  onLearned(state: LearnedState): void;
  /** A version of it was replaced by a later one: by what was learned, or by an edit. */
  onReplaced(state: LearnedState, former: Versioned, isEdited: boolean): void;
  onWriteFailed(key: string, message: string): void;
}

/** What somebody makes of a state in place of learning. */
export interface StateEdit {
  /** The new state from what is stored. */
  readonly change: (state: Json, isPinned: boolean) => { readonly state: Json; readonly isPinned: boolean };
  readonly done: (outcome: StoreOutcome) => void;
}

/**
 * Observations kept for a conflict. When the store stays away for longer than this many, the oldest can no longer be
 * replayed over somebody else's state; they stay in this process's.
 */
const MOST_PENDING = 100_000;

/**
 * The selection state of one application and context: learned in memory at once, written behind with compare-and-set.
 * One write is under way at a time and takes along everything learned before it, together with the marks of that. When
 * another frontend wrote first, its state is taken and what was learned here since is observed again on top; what another
 * has learned before, by its marks, is left out.
 */
export class LearnedState {
  state: Json;
  private pinned = false;
  private version: number;
  /** As it is stored, with the arms of now. */
  private stored: Json;
  private readonly pending = new PendingObservations();
  private readonly edits: StateEdit[] = [];
  private writing = false;
  private readonly flushes: (() => void)[] = [];

  /** @param context '' for the application's own */
  constructor(
    readonly key: string,
    readonly context: string,
    private readonly owner: LearnedStateOwner,
  ) {
    const stored = owner.store.get(key);
    this.version = 0;
    this.stored = this.adopt(stored);
    this.state = this.stored;
  }

  get application(): string {
    return this.owner.application;
  }

  /** Nothing waits to be written. */
  get clean(): boolean {
    return this.pending.length === 0 && this.edits.length === 0 && !this.writing;
  }

  /** It learns nothing. */
  get isPinned(): boolean {
    return this.pinned;
  }

  /** Of what is stored; 0: nothing is. */
  get storedVersion(): number {
    return this.version;
  }

  observe(observation: Observation): void {
    if (this.pinned) {
      observation.done?.('pinned');
      return;
    }
    if (observation.marks !== undefined && this.pending.join(observation.marks, observation.done)) return;
    const before = this.state;
    if (!this.apply(observation)) {
      observation.done?.('poisonous', observation.error);
      return;
    }
    if (this.state === before) {
      observation.done?.('learned');
      return;
    }
    if (this.pending.length >= MOST_PENDING) this.pending.take(1)[0].done?.('unwritten');
    this.pending.push(observation);
    this.write();
  }

  /** Puts another state in place of the stored one; what is learned meanwhile is observed again on top. */
  edit(edit: StateEdit): void {
    this.edits.push(edit);
    this.write();
  }

  /** The arms or the parameters of the policy are others. The next write takes it along: it follows from records that are stored. */
  refit(): void {
    this.state = this.owner.fit(this.state);
    this.stored = this.owner.fit(this.stored);
  }

  /** The store's value changed, by this frontend or another. */
  onStored(value: Versioned | undefined): void {
    // A write of ours under way, or still to come, finds out by itself.
    if (!this.clean || (value?.version ?? 0) === this.version) return;
    this.stored = this.adopt(value);
    this.state = this.stored;
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

  /** Whether the policy took it. */
  private apply(observation: Observation): boolean {
    try {
      this.state = this.after(observation);
      return true;
    } catch (error) {
      observation.error = error;
      return false;
    }
  }

  private after(observation: Observation): Json {
    const { policy } = this.owner;
    if ('isSettling' in observation) return policy.settled?.(this.state) ?? this.state;
    if ('noticed' in observation) return policy.notice?.(this.state, observation.noticed) ?? this.state;
    const { selection, predictions, feedback, features } = observation;
    return policy.observe(this.state, selection, predictions, feedback, { context: this.context, features });
  }

  private write(): void {
    if (this.writing) return;
    const [edit] = this.edits;
    if (edit !== undefined) {
      this.writeEdit(edit);
      return;
    }
    const taken = this.pending.length;
    if (taken === 0) return;
    this.writing = true;
    const { state } = this;
    const marks = this.pending.all().flatMap((observation) => observation.marks ?? []);
    const done = (outcome: OnceOutcome) => this.onWritten(outcome, state, taken);
    if (marks.length === 0) this.owner.store.set(this.key, state, this.version, done);
    else this.owner.store.setOnce(this.key, state, this.version, marks, done);
  }

  private onWritten(outcome: OnceOutcome, state: Json, taken: number): void {
    this.writing = false;
    if (outcome.ok) {
      this.replaced(outcome.version, state, false);
      const written = this.pending.take(taken);
      this.owner.onLearned(this);
      for (const observation of written) observation.done?.('learned');
    } else if (outcome.reason === 'conflict') {
      this.rebase(outcome.current);
    } else if (outcome.reason === 'marked') {
      this.leaveOut(new Set(outcome.marks));
    } else {
      this.onFailed(outcome);
      return;
    }
    this.goOn();
  }

  private goOn(): void {
    if (this.pending.length > 0 || this.edits.length > 0) this.write();
    else this.flushed();
  }

  private onFailed(outcome: StoreOutcome & { readonly ok: false; readonly reason: 'failed' }): void {
    this.owner.onWriteFailed(this.key, outcome.message);
    const leaving = this.pending.takeWhere((observation) => observation.isKeptElsewhere === true);
    if (leaving.length > 0) this.rebase(this.owner.store.get(this.key));
    for (const observation of [...leaving, ...this.pending.all()]) {
      const { done } = observation;
      observation.done = undefined;
      done?.('unwritten');
    }
    for (const edit of this.edits.splice(0)) edit.done(outcome);
    this.flushed();
  }

  private writeEdit(edit: StateEdit): void {
    this.writing = true;
    const { state, isPinned } = edit.change(this.stored, this.pinned);
    this.owner.store.set(this.key, kept(state, isPinned), this.version, (outcome) => {
      this.writing = false;
      if (!outcome.ok && outcome.reason === 'conflict') {
        this.rebase(outcome.current);
        this.goOn();
        return;
      }
      this.edits.shift();
      if (outcome.ok) {
        this.replaced(outcome.version, state, true);
        this.pinned = isPinned;
        this.observeAgain();
      }
      edit.done(outcome);
      this.goOn();
    });
  }

  /** What is stored now is what this process wrote. */
  private replaced(version: number, state: Json, isEdited: boolean): void {
    const former = { version: this.version, value: this.stored };
    this.version = version;
    this.stored = state;
    if (former.version > 0) this.owner.onReplaced(this, former, isEdited);
  }

  private rebase(current: Versioned | undefined): void {
    this.stored = this.adopt(current);
    this.observeAgain();
  }

  /** These were learned before: the rest goes over what is stored. */
  private leaveOut(marks: ReadonlySet<string>): void {
    const repeated = this.pending.takeWhere(({ marks: own = [] }) => own.some((mark) => marks.has(mark)));
    this.rebase(this.owner.store.get(this.key));
    for (const observation of repeated) observation.done?.('repeated');
  }

  /** What waits to be written, over what is stored. */
  private observeAgain(): void {
    this.state = this.stored;
    if (this.pinned) {
      for (const observation of this.pending.take(this.pending.length)) observation.done?.('pinned');
      return;
    }
    const failed = this.pending.takeWhere((observation) => !this.apply(observation));
    for (const observation of failed) observation.done?.('poisonous', observation.error);
  }

  private adopt(value: Versioned | undefined): Json {
    this.version = value?.version ?? 0;
    this.pinned = false;
    if (value === undefined) return this.owner.initial();
    const { state, isPinned } = opened(value.value);
    this.pinned = isPinned;
    return this.owner.adopt(state);
  }

  private flushed(): void {
    // Somebody else may have written while our write was on its way.
    if (this.clean) this.onStored(this.owner.store.get(this.key));
    for (const done of this.flushes.splice(0)) done();
  }
}
