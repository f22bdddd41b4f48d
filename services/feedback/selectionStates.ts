import { PolicyError, withParameters, type Json, type SelectionPolicy } from '../../selection/index.js';
import { coldKey, storeKey, type Store, type StoreFault, type Versioned } from '../store/index.js';
import { contextOf, eraseContexts, erasingKey, stateFolder } from './contextFolder.js';
import { ContextMemory, type ContextPool } from './contextMemory.js';
import { DEFAULT_CONTEXT_LIMITS, KeptContexts, type ContextLimits } from './keptContexts.js';
import { opened } from './keptForm.js';
import {
  LearnedState,
  type ContextOwner,
  type Learned,
  type LearnedStateOwner,
  type Observation,
  type SharedObservation,
} from './learnedState.js';
import { moveContexts } from './moveContexts.js';
import { StateHistory } from './stateHistory.js';

/** Of the least recently used contexts so many are asked whether they may go. */
const MOST_CANDIDATES = 64;

/** The prior is made anew once the application's state has changed this much: by a sixteenth of all changes, or so many. */
const PRIOR_SHARE = 16;
const MOST_CHANGES = 64;

const DAY_MS = 86_400_000;

export interface SelectionStatesOptions {
  readonly application: string;
  readonly policy: SelectionPolicy;
  readonly parameters: Json;
  readonly arms: readonly string[];
  readonly store: Store;
  readonly onWriteFailed: (key: string, message: string) => void;
  /** What contexts may take of memory; one of its own unless given. */
  readonly memory?: ContextMemory | undefined;
  /** How many contexts are kept, and for how long. */
  readonly limits?: ContextLimits | undefined;
  /** The calendar, by which contexts grow old; the wall's unless given. */
  readonly nowMs?: () => number;
}

/** What became of an application's contexts since the start. */
export interface ContextCounts {
  /** In memory. */
  readonly held: number;
  readonly heldBytes: number;
  /** In the store, as far as they have been counted. */
  readonly kept: number;
  /** Times that one was read from the store, or was not there. */
  readonly reads: number;
  /** Times that one was let go. */
  readonly evictions: number;
  /** Forgotten for their age, and for want of room. */
  readonly expired: number;
  readonly crowdedOut: number;
}

/** The learned states of one application: its own, and one for each context that it names (Clipper 5.3). */
export class SelectionStates implements LearnedStateOwner, ContextOwner, ContextPool {
  readonly contexts: ContextOwner = this;
  readonly policy: SelectionPolicy;
  readonly store: Store;
  readonly own: LearnedState;
  readonly application: string;
  private parameters: Json;
  private arms: readonly string[];
  private readonly kept: KeptContexts;
  /** Earlier versions of the states. */
  readonly history: StateHistory;
  /** Those in memory, the least recently used first. */
  private readonly inMemory = new Map<string, LearnedState>();
  private readonly memory: ContextMemory;
  bytes = 0;
  private reads = 0;
  private evictions = 0;
  private readonly failed: (key: string, message: string) => void;
  private readonly nowMs: () => number;
  private readonly unwatch: () => void;
  private readonly unwatchContexts: () => void;
  private readonly unwatchFault: () => void;
  /** Before any feedback. */
  private fresh: Json;
  /** That of a context, and how often the application's own state has changed since. */
  private prior: Json | undefined;
  private priorAge = 0;
  private changes = 0;
  /** Contexts of an application that was deleted are still being forgotten; who waits to read. */
  private erasing: (() => void)[] | undefined;
  private isClosed = false;

  /** @throws PolicyError when the policy does not take the parameters. */
  constructor(options: SelectionStatesOptions) {
    this.application = options.application;
    this.policy = options.policy;
    this.parameters = options.parameters;
    this.arms = options.arms;
    this.store = options.store;
    this.failed = options.onWriteFailed;
    this.fresh = this.policy.init(this.arms, this.parameters);
    this.nowMs = options.nowMs ?? Date.now;
    this.memory = options.memory ?? new ContextMemory();
    this.memory.add(this);
    const limits = options.limits ?? DEFAULT_CONTEXT_LIMITS;
    this.kept = new KeptContexts(this.store, this.application, () => this.today(), limits);
    this.history = new StateHistory(this.store, this.application, this.nowMs);
    this.own = new LearnedState(storeKey('selection', this.application, 'own'), '', this);
    this.unwatch = this.store.watch(this.prefix, ({ key, value }) => {
      if (key !== this.own.key) return;
      this.own.onStored(value);
      this.noteChange();
    });
    this.unwatchContexts = this.store.watch(`${stateFolder(this.application)}/`, ({ key, value }) => {
      const state = this.inMemory.get(contextOf(key));
      if (value === undefined && state !== undefined && state.storedVersion > 0) this.kept.noteGone();
      state?.onStored(value);
    });
    this.unwatchFault = this.store.watchFault((fault) => {
      if (fault === undefined) this.forEach((state) => state.resume());
    });
    if (this.store.get(erasingKey(this.application)) !== undefined) this.finishErasing();
    moveContexts(this.store, this.application, this.today());
    this.kept.sweep();
  }

  /**
   * The state of a context, '' for the application's own, which is that of all where the policy says so.
   * @throws StoreError when the context cannot be part of a key.
   */
  of(context: string): LearnedState {
    if (context === '' || this.policy.isShared === true) return this.own;
    let state = this.inMemory.get(context);
    if (state === undefined) {
      state = new LearnedState(coldKey(stateFolder(this.application), context), context, this);
    } else {
      this.inMemory.delete(context);
      state.touch();
    }
    this.inMemory.set(context, state);
    return state;
  }

  /** Calls back once a context's state and its earlier versions are in memory, or cannot be read now. @throws StoreError */
  whenRead(context: string, act: () => void): void {
    const state = this.of(context);
    const go = (): void => this.history.whileHeld(state.context, act);
    if (state.whenRead(go)) go();
  }

  /** Arms were linked or unlinked, or parameters changed; what was learned stays. @throws PolicyError */
  refit(arms: readonly string[], parameters: Json): void {
    this.fresh = this.policy.init(arms, parameters);
    this.arms = arms;
    this.parameters = parameters;
    this.prior = undefined;
    this.forEach((state) => state.refit());
  }

  /** What the policy has made of its states by itself is written, where it is not. */
  settle(): void {
    if (this.policy.settled === undefined) return;
    this.forEach((state) => state.observe({ isSettling: true, done: undefined }));
  }

  /** From now on so many contexts are kept, and for so long. */
  setLimits(limits: ContextLimits): void {
    this.kept.setLimits(limits);
  }

  initial(context: string): Json {
    if (context === '' || this.policy.prior === undefined) return this.fresh;
    if (this.prior === undefined || this.priorAge > Math.min(MOST_CHANGES, this.changes / PRIOR_SHARE)) {
      this.prior = this.policy.prior(this.own.state) ?? this.fresh;
      this.priorAge = 0;
    }
    return this.prior;
  }

  fit(state: Json): Json {
    return withParameters(this.policy, this.policy.reconcile(state, this.arms), this.parameters);
  }

  adopt(value: Json, context: string): Json {
    try {
      return this.fit(this.policy.restore(value));
    } catch (error) {
      // Another policy's state, or an older schema: the application chose anew, and learning starts anew.
      if (error instanceof PolicyError) return this.initial(context);
      throw error;
    }
  }

  /** It is done when both have learned it: what is acknowledged, both keep. */
  shared(observation: Observation): SharedObservation | undefined {
    if (!('feedback' in observation) || this.policy.prior?.(this.fresh) === undefined) return undefined;
    const { done, marks } = observation;
    let open = 2;
    let isUnwritten = false;
    let outcome: Learned = 'learned';
    let failure: unknown;
    const one = (): void => {
      open -= 1;
      if (open > 0) return;
      done?.(outcome === 'learned' && isUnwritten ? 'unwritten' : outcome, failure);
    };
    const ofOwn: Observation = {
      ...observation,
      // Marks are the whole store's: each write has its own.
      marks: marks?.map((mark) => `${mark}+`),
      done: (became) => {
        isUnwritten = became === 'unwritten';
        one();
      },
    };
    const ofContext: Observation = {
      ...observation,
      done: (became, error) => {
        outcome = became;
        failure = error;
        one();
      },
    };
    return { observation: ofContext, tellOwn: () => this.own.observe(ofOwn) };
  }

  hold(key: string, done: (fault: StoreFault | undefined) => void): boolean {
    this.reads += 1;
    if (this.erasing === undefined) return this.store.hold(key, done);
    this.erasing.push(() => {
      if (this.store.hold(key, done)) done(undefined);
    });
    return false;
  }

  today(): number {
    return Math.floor(this.nowMs() / DAY_MS);
  }

  onLearned({ context }: LearnedState, isNew: boolean): void {
    if (context === '') return;
    this.kept.note(isNew);
    // What waited to be written may go now.
    this.memory.makeRoom();
  }

  onGrown(bytes: number): void {
    this.bytes += bytes;
    this.memory.grow(bytes);
  }

  onReplaced({ context }: LearnedState, former: Versioned, isEdited: boolean): void {
    this.history.note(context, former, isEdited);
  }

  onWriteFailed(key: string, message: string): void {
    this.failed(key, message);
  }

  dropOldest(): boolean {
    let asked = 0;
    for (const state of this.inMemory.values()) {
      if (state.clean) {
        this.letGo(state);
        return true;
      }
      if (++asked === MOST_CANDIDATES) break;
    }
    // All of them wait for a store that keeps nothing: memory has an end, too.
    const [oldest] = this.inMemory.values();
    if (oldest === undefined || this.store.fault() === undefined) return false;
    this.letGo(oldest);
    return true;
  }

  counts(): ContextCounts {
    const { size: kept, expired, crowdedOut } = this.kept;
    const { reads, evictions } = this;
    return { held: this.inMemory.size, heldBytes: this.bytes, kept, reads, evictions, expired, crowdedOut };
  }

  flush(done: () => void): void {
    const states = [this.own, ...this.inMemory.values()].filter((state) => !state.clean);
    let open = states.length + 1;
    const one = (): void => {
      open -= 1;
      if (open === 0) done();
    };
    for (const state of states) state.flush(one);
    one();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.unwatch();
    this.unwatchContexts();
    this.unwatchFault();
    for (const state of [...this.inMemory.values()]) state.letGo();
    this.inMemory.clear();
    this.memory.grow(-this.bytes);
    this.memory.remove(this);
  }

  /** Whether a state, of the application or of a context, is other than before any feedback. */
  hasLearned(): boolean {
    if (this.kept.size > 0) return true;
    const entry = this.store.get(this.own.key);
    if (entry === undefined) return false;
    return JSON.stringify(this.adopt(opened(entry.value).state, '')) !== JSON.stringify(this.fresh);
  }

  /** @returns what forgets all that is stored now, and leaves what is written in its place meanwhile */
  forgetting(): () => void {
    const stored = this.store.list(this.prefix);
    return () => {
      for (const { key, entry } of stored) this.store.set(key, undefined, entry.version);
      eraseContexts(this.store, this.application, () => undefined);
    };
  }

  /** Forgets everything, in the store too: the application is gone. */
  erase(): void {
    this.close();
    for (const { key } of this.store.list(this.prefix)) this.store.set(key, undefined, 'any');
    this.store.set(erasingKey(this.application), true, 'any');
    eraseContexts(this.store, this.application, () => undefined);
  }

  /** Of all that is kept of what the application has learned, but for its contexts. */
  private get prefix(): string {
    return `${storeKey('selection', this.application)}/`;
  }

  private noteChange(): void {
    this.priorAge += 1;
    this.changes += 1;
  }

  private finishErasing(): void {
    this.erasing = [];
    eraseContexts(this.store, this.application, () => {
      const waiting = this.erasing ?? [];
      this.erasing = undefined;
      for (const go of waiting) go();
    });
  }

  private letGo(state: LearnedState): void {
    this.inMemory.delete(state.context);
    this.bytes -= state.bytes;
    this.memory.grow(-state.bytes);
    this.evictions += 1;
    state.letGo();
  }

  private forEach(act: (state: LearnedState) => void): void {
    act(this.own);
    for (const state of [...this.inMemory.values()]) act(state);
  }
}
