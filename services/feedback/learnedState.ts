import type {
  ArmOutcome,
  ArmPrediction,
  Feedback,
  Features,
  Json,
  Selection,
  SelectionPolicy,
} from '../../selection/index.js';
import type { OnceOutcome, Store, StoreFault, StoreOutcome, Versioned } from '../store/index.js';
import { bytesOf } from './contextMemory.js';
import { kept, opened, type Use } from './keptForm.js';
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

export interface SharedObservation {
  readonly observation: Observation;
  readonly tellOwn: () => void;
}

/** What every state of an application shares. */
export interface LearnedStateOwner {
  /** The application's name. */
  readonly application: string;
  readonly policy: SelectionPolicy;
  /** The state of a context before any feedback of its own, with the arms of now; '' for the application's. */
  initial(context: string): Json;
  /** A state with the arms and the parameters of now. */
  fit(state: Json): Json;
  /** A stored state of a context, fitted; the initial one when it cannot be read. */
  adopt(value: Json, context: string): Json;
  readonly store: Store;
  /** Where it has states of contexts. */
  readonly contexts?: ContextOwner;
  /** Something of it is on disk that was not before; `isNew`: nothing was. */
  onLearned(state: LearnedState, isNew: boolean): void;
  /** A version of it was replaced by a later one: by what was learned, or by an edit. */
  onReplaced(state: LearnedState, former: Versioned, isEdited: boolean): void;
  onWriteFailed(key: string, message: string): void;
}

/** What states of contexts need beside. */
export interface ContextOwner {
  /** What a context learns, and how the application's own state is told of it, too, once the context has learned; undefined: it is not. */
  shared(observation: Observation): SharedObservation | undefined;
  /** The state of a context, for one that was let go. */
  of(context: string): LearnedState;
  /** As `Store.hold`. */
  hold(key: string, done: (fault: StoreFault | undefined) => void): boolean;
  /** Days since 1970. */
  today(): number;
  /** One takes so much more memory. */
  onGrown(bytes: number): void;
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

/** Of a context without anything learned, about: the object, its key and its place in maps. */
const CONTEXT_BYTES = 600;

/**
 * The selection state of one application and context: learned in memory at once, written behind with compare-and-set.
 * One write is under way at a time and takes along everything learned before it, together with the marks of that. When
 * another frontend wrote first, its state is taken and what was learned here since is observed again on top; what another
 * has learned before, by its marks, is left out.
 *
 * That of a context is read from the store first, which takes a moment. Until then it is as that of a new one; what it is to learn
 * and edits wait. One that nothing waits for may be let go: whoever still has it finds the one in its place.
 */
export class LearnedState {
  /** With what was learned since; undefined: nothing of its own. */
  private learned: Json | undefined;
  /** As it is stored, with the arms of now. */
  private stored: Json | undefined;
  private pinned = false;
  private version = 0;
  private use: Use | undefined;
  /** The store shall know that it was used today. */
  private isTouched = false;
  private phase: 'unread' | 'reading' | 'known' | 'gone' = 'unread';
  private readonly pending = new PendingObservations();
  /** Observations that came before it was read. */
  private early: Observation[] | undefined;
  private edits: StateEdit[] | undefined;
  private writing = false;
  private flushes: (() => void)[] | undefined;
  private readers: (() => void)[] | undefined;
  /** What it takes in memory, about. */
  bytes = 0;

  /** @param context '' for the application's own */
  constructor(
    readonly key: string,
    readonly context: string,
    private readonly owner: LearnedStateOwner,
  ) {
    if (context !== '') {
      this.measure();
      this.read();
      return;
    }
    this.phase = 'known';
    this.adoptStored(owner.store.get(key));
  }

  get state(): Json {
    if (this.learned !== undefined) return this.learned;
    if (this.phase === 'gone') return this.inItsPlace.state;
    return this.owner.initial(this.context);
  }

  get application(): string {
    return this.owner.application;
  }

  /** Nothing waits to be read or written. */
  get clean(): boolean {
    return (
      this.phase !== 'reading' &&
      this.pending.length === 0 &&
      this.early === undefined &&
      this.edits === undefined &&
      !this.writing
    );
  }

  /** It is what the store has, and what was learned since. */
  get isKnown(): boolean {
    return this.phase === 'known';
  }

  /** It learns nothing. */
  get isPinned(): boolean {
    return this.pinned;
  }

  /** Of what is stored; 0: nothing is. */
  get storedVersion(): number {
    return this.version;
  }

  /** Calls back once it is read, or cannot be read now. @returns whether it is read already, and `done` is not called */
  whenRead(done: () => void): boolean {
    if (this.phase === 'known' || this.phase === 'gone') return true;
    (this.readers ??= []).push(done);
    if (this.phase === 'unread') this.read();
    return false;
  }

  /** A query came with it. */
  touch(): void {
    if (this.phase === 'unread') this.read();
    if (this.use === undefined || this.use.day === this.owners.today() || this.isTouched) return;
    this.isTouched = true;
    this.write();
  }

  observe(brought: Observation): void {
    if (this.phase === 'gone') {
      this.inItsPlace.observe(brought);
      return;
    }
    if (this.phase !== 'known') {
      if ((this.early ??= []).push(brought) > MOST_PENDING) tellUnwritten(this.early.splice(0, 1)[0]);
      if (this.phase === 'unread') this.read();
      return;
    }
    if (this.pinned) {
      brought.done?.('pinned');
      return;
    }
    const shared = this.context === '' ? undefined : this.owners.shared(brought);
    this.learn(shared?.observation ?? brought);
    shared?.tellOwn();
  }

  /** Puts another state in place of the stored one; what is learned meanwhile is observed again on top. */
  edit(edit: StateEdit): void {
    if (this.phase === 'gone') {
      this.inItsPlace.edit(edit);
      return;
    }
    (this.edits ??= []).push(edit);
    if (this.phase === 'unread') this.read();
    this.write();
  }

  /** The arms or the parameters of the policy are others. The next write takes it along: it follows from records that are stored. */
  refit(): void {
    if (this.learned !== undefined) this.learned = this.owner.fit(this.learned);
    if (this.stored !== undefined) this.stored = this.owner.fit(this.stored);
  }

  /** The store's value changed, by this frontend or another. */
  onStored(value: Versioned | undefined): void {
    // A write of ours under way, or still to come, finds out by itself.
    if (this.phase !== 'known' || !this.clean || (value?.version ?? 0) === this.version) return;
    this.adoptStored(value);
  }

  /** Calls back once everything learned so far is written, or its write has failed. */
  flush(done: () => void): void {
    // What cannot be read now cannot be written either.
    if (this.clean || this.phase === 'unread') {
      done();
      return;
    }
    (this.flushes ??= []).push(done);
    this.write();
  }

  /** The store takes writes again. */
  resume(): void {
    if (this.phase === 'unread' && (this.early !== undefined || this.edits !== undefined)) this.read();
    this.write();
  }

  /** Lets it go: it is read anew when somebody asks for it. */
  letGo(): void {
    if (this.phase === 'known' || this.phase === 'reading') this.owner.store.release(this.key);
    const { readers = [] } = this;
    this.phase = 'gone';
    this.learned = undefined;
    this.stored = undefined;
    this.readers = undefined;
    // Whoever waits asks for the one in its place, which may let another go.
    for (const done of readers) queueMicrotask(done);
    if (!this.writing) this.tellWaiting();
  }

  /** It was let go before it was written: nobody waits for that any longer. */
  private tellWaiting(): void {
    const { early = [], edits = [] } = this;
    this.early = undefined;
    this.edits = undefined;
    for (const observation of [...early, ...this.pending.take(this.pending.length)])
      tellUnwritten(observation);
    const fault = this.owner.store.fault() ?? { cause: 'other', message: `'${this.key}' was let go` };
    for (const edit of edits) edit.done({ ok: false, reason: 'failed', ...fault });
    this.flushed();
  }

  private learn(observation: Observation): void {
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

  /** Of a context. */
  private get owners(): ContextOwner {
    const { contexts } = this.owner;
    if (contexts === undefined) throw new Error(`'${this.application}' has no states of contexts`);
    return contexts;
  }

  /** Once it was let go. */
  private get inItsPlace(): LearnedState {
    return this.owners.of(this.context);
  }

  private read(): void {
    this.phase = 'reading';
    if (this.owners.hold(this.key, (fault) => this.onRead(fault))) this.onRead(undefined);
  }

  private onRead(fault: StoreFault | undefined): void {
    if (this.phase !== 'reading') return;
    const { early = [], readers = [] } = this;
    this.readers = undefined;
    if (fault === undefined) {
      // It may not be let go for what it takes before it is there.
      this.adoptStored(this.owner.store.get(this.key));
      this.phase = 'known';
      this.early = undefined;
      for (const observation of early) this.observe(observation);
      this.write();
    } else {
      this.phase = 'unread';
      this.owner.onWriteFailed(this.key, fault.message);
      const kept = early.filter(({ isKeptElsewhere }) => isKeptElsewhere !== true);
      this.early = kept.length === 0 ? undefined : kept;
      for (const observation of early) tellUnwritten(observation);
      for (const edit of this.edits ?? []) edit.done({ ok: false, reason: 'failed', ...fault });
      this.edits = undefined;
    }
    for (const done of readers) done();
    if (this.clean) this.flushed();
  }

  /** Whether the policy took it. */
  private apply(observation: Observation): boolean {
    try {
      this.learned = this.after(observation);
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
    if (this.writing || this.phase !== 'known') return;
    const [edit] = this.edits ?? [];
    if (edit !== undefined) {
      this.writeEdit(edit);
      return;
    }
    const taken = this.pending.length;
    if (taken === 0 && !this.isTouched) return;
    this.isTouched = false;
    this.writing = true;
    const { state } = this;
    const use = this.useAfter(taken);
    const value = kept(state, this.pinned, use);
    const marks = this.pending.all().flatMap((observation) => observation.marks ?? []);
    const done = (outcome: OnceOutcome) => this.onWritten(outcome, state, use, taken);
    if (marks.length === 0) this.owner.store.set(this.key, value, this.version, done);
    else this.owner.store.setOnce(this.key, value, this.version, marks, done);
  }

  private useAfter(times: number): Use | undefined {
    if (this.context === '') return undefined;
    return { day: this.owners.today(), count: (this.use?.count ?? 0) + times };
  }

  private onWritten(outcome: OnceOutcome, state: Json, use: Use | undefined, taken: number): void {
    this.writing = false;
    if (this.phase === 'gone') {
      const written = outcome.ok ? this.pending.take(taken) : [];
      if (outcome.ok) this.owner.onLearned(this, this.version === 0);
      for (const observation of written) observation.done?.('learned');
      this.tellWaiting();
      return;
    }
    if (outcome.ok) {
      const isNew = this.version === 0;
      this.replaced(outcome.version, state, use, taken > 0 ? 'learned' : 'touched');
      const written = this.pending.take(taken);
      this.owner.onLearned(this, isNew);
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
    if (this.pending.length > 0 || this.edits !== undefined) this.write();
    else this.flushed();
  }

  private onFailed(outcome: StoreOutcome & { readonly ok: false; readonly reason: 'failed' }): void {
    this.owner.onWriteFailed(this.key, outcome.message);
    const leaving = this.pending.takeWhere((observation) => observation.isKeptElsewhere === true);
    if (leaving.length > 0) this.rebase(this.owner.store.get(this.key));
    for (const observation of [...leaving, ...this.pending.all()]) tellUnwritten(observation);
    const { edits = [] } = this;
    this.edits = undefined;
    for (const edit of edits) edit.done(outcome);
    this.flushed();
  }

  private writeEdit(edit: StateEdit): void {
    this.writing = true;
    const { state, isPinned } = edit.change(this.stored ?? this.owner.initial(this.context), this.pinned);
    const use = this.useAfter(0);
    this.owner.store.set(this.key, kept(state, isPinned, use), this.version, (outcome) => {
      this.writing = false;
      if (this.phase === 'gone') {
        this.edits = this.edits?.slice(1);
        edit.done(outcome);
        this.tellWaiting();
        return;
      }
      if (!outcome.ok && outcome.reason === 'conflict') {
        this.rebase(outcome.current);
        this.goOn();
        return;
      }
      if (outcome.ok) {
        const isNew = this.version === 0;
        this.replaced(outcome.version, state, use, 'edited');
        this.pinned = isPinned;
        this.observeAgain();
        this.owner.onLearned(this, isNew);
      }
      const left = this.edits?.slice(1) ?? [];
      this.edits = left.length === 0 ? undefined : left;
      edit.done(outcome);
      this.goOn();
    });
  }

  /** What is stored now is what this process wrote. */
  private replaced(
    version: number,
    state: Json,
    use: Use | undefined,
    why: 'learned' | 'edited' | 'touched',
  ): void {
    const { version: before, stored } = this;
    this.version = version;
    this.stored = state;
    this.use = use;
    this.measure();
    if (before === 0 || stored === undefined || why === 'touched') return;
    this.owner.onReplaced(this, { version: before, value: stored }, why === 'edited');
  }

  private rebase(current: Versioned | undefined): void {
    this.adoptStored(current);
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
    this.learned = this.unchanged();
    if (this.pinned) {
      for (const observation of this.pending.take(this.pending.length)) observation.done?.('pinned');
      return;
    }
    const failed = this.pending.takeWhere((observation) => !this.apply(observation));
    for (const observation of failed) observation.done?.('poisonous', observation.error);
  }

  private adoptStored(value: Versioned | undefined): void {
    this.version = value?.version ?? 0;
    const found = value === undefined ? undefined : opened(value.value);
    this.pinned = found?.isPinned ?? false;
    this.use = found?.use;
    this.stored = found === undefined ? undefined : this.owner.adopt(found.state, this.context);
    this.learned = this.unchanged();
    this.measure();
  }

  /** What is stored; undefined of a context of which nothing is, which goes with the application. */
  private unchanged(): Json | undefined {
    return this.stored ?? (this.context === '' ? this.owner.initial('') : undefined);
  }

  private measure(): void {
    if (this.context === '') return;
    const own = this.stored === undefined ? 0 : 2 * bytesOf(this.stored);
    const bytes = CONTEXT_BYTES + 3 * this.context.length + own;
    const more = bytes - this.bytes;
    this.bytes = bytes;
    if (more !== 0) this.owners.onGrown(more);
  }

  private flushed(): void {
    // Somebody else may have written while our write was on its way.
    if (this.phase === 'known' && this.clean) this.onStored(this.owner.store.get(this.key));
    const { flushes = [] } = this;
    this.flushes = undefined;
    for (const done of flushes) done();
  }
}

/** Once: it may still be learned later. */
function tellUnwritten(observation: Observation): void {
  const { done } = observation;
  observation.done = undefined;
  done?.('unwritten');
}
