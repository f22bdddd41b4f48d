import { PolicyError, withParameters, type Json, type SelectionPolicy } from '../../selection/index.js';
import { storeKey, storeKeyParts, type Store, type Versioned } from '../store/index.js';
import { KeptContexts } from './keptContexts.js';
import { opened } from './keptForm.js';
import { LearnedState, type LearnedStateOwner } from './learnedState.js';
import { StateHistory } from './stateHistory.js';

/** States of contexts held in memory; the least recently used makes room, a clean one if there is one, and comes back from the store. */
const MOST_CONTEXTS = 10_000;

export interface SelectionStatesOptions {
  readonly application: string;
  readonly policy: SelectionPolicy;
  readonly parameters: Json;
  readonly arms: readonly string[];
  readonly store: Store;
  readonly onWriteFailed: (key: string, message: string) => void;
  /** The calendar, by which contexts grow old; the wall's unless given. */
  readonly nowMs?: () => number;
}

/** The learned states of one application: its own, and one for each context that it names (Clipper 5.3). */
export class SelectionStates implements LearnedStateOwner {
  readonly policy: SelectionPolicy;
  readonly store: Store;
  readonly own: LearnedState;
  readonly application: string;
  private parameters: Json;
  private arms: readonly string[];
  private readonly kept: KeptContexts;
  /** Earlier versions of the states. */
  readonly history: StateHistory;
  private readonly contexts = new Map<string, LearnedState>();
  private readonly failed: (key: string, message: string) => void;
  private readonly unwatch: () => void;
  private readonly unwatchFault: () => void;

  /** @throws PolicyError when the policy does not take the parameters. */
  constructor(options: SelectionStatesOptions) {
    this.application = options.application;
    this.policy = options.policy;
    this.parameters = options.parameters;
    this.arms = options.arms;
    this.store = options.store;
    this.failed = options.onWriteFailed;
    this.policy.init(this.arms, this.parameters);
    const nowMs = options.nowMs ?? Date.now;
    this.kept = new KeptContexts(this.store, this.application, nowMs);
    this.history = new StateHistory(this.store, this.application, nowMs);
    this.own = new LearnedState(storeKey('selection', this.application, 'own'), '', this);
    this.unwatch = this.store.watch(this.prefix, (change) => {
      const [, , kind, context] = storeKeyParts(change.key);
      const state =
        kind === 'own' ? this.own : kind === 'context' ? this.contexts.get(context ?? '') : undefined;
      state?.onStored(change.value);
    });
    this.unwatchFault = this.store.watchFault((fault) => {
      if (fault === undefined) this.forEach((state) => state.resume());
    });
  }

  /**
   * The state of a context, '' for the application's own, which is that of all where the policy says so.
   * @throws StoreError when the context cannot be part of a key.
   */
  of(context: string): LearnedState {
    if (context === '' || this.policy.isShared === true) return this.own;
    let state = this.contexts.get(context);
    if (state === undefined) {
      state = new LearnedState(storeKey('selection', this.application, 'context', context), context, this);
      this.makeRoom();
    } else {
      this.contexts.delete(context);
    }
    this.contexts.set(context, state);
    return state;
  }

  /** Arms were linked or unlinked, or parameters changed; what was learned stays. @throws PolicyError */
  refit(arms: readonly string[], parameters: Json): void {
    this.policy.init(arms, parameters);
    this.arms = arms;
    this.parameters = parameters;
    this.forEach((state) => state.refit());
  }

  /** What the policy has made of its states by itself is written, where it is not. */
  settle(): void {
    if (this.policy.settled === undefined) return;
    this.forEach((state) => state.observe({ isSettling: true, done: undefined }));
  }

  initial(): Json {
    return this.policy.init(this.arms, this.parameters);
  }

  fit(state: Json): Json {
    return withParameters(this.policy, this.policy.reconcile(state, this.arms), this.parameters);
  }

  adopt(value: Json): Json {
    try {
      return this.fit(this.policy.restore(value));
    } catch (error) {
      // Another policy's state, or an older schema: the application chose anew, and learning starts anew.
      if (error instanceof PolicyError) return this.initial();
      throw error;
    }
  }

  onLearned({ context }: LearnedState): void {
    if (context !== '') this.kept.note(context);
  }

  onReplaced({ context }: LearnedState, former: Versioned, isEdited: boolean): void {
    this.history.note(context, former, isEdited);
  }

  onWriteFailed(key: string, message: string): void {
    this.failed(key, message);
  }

  flush(done: () => void): void {
    const states = [this.own, ...this.contexts.values()];
    let open = states.length;
    for (const state of states) {
      state.flush(() => {
        open -= 1;
        if (open === 0) done();
      });
    }
  }

  close(): void {
    this.unwatch();
    this.unwatchFault();
  }

  /** Whether a state, of the application or of a context, is other than before any feedback. */
  hasLearned(): boolean {
    const initial = JSON.stringify(this.initial());
    return this.store.list(this.prefix).some(({ key, entry }) => {
      const [, , kind] = storeKeyParts(key);
      if (kind !== 'own' && kind !== 'context') return false;
      return JSON.stringify(this.adopt(opened(entry.value).state)) !== initial;
    });
  }

  /** @returns what forgets all that is stored now, and leaves what is written in its place meanwhile */
  forgetting(): () => void {
    const stored = this.store.list(this.prefix);
    return () => {
      for (const { key, entry } of stored) this.store.set(key, undefined, entry.version);
    };
  }

  /** Forgets everything, in the store too: the application is gone. */
  erase(): void {
    this.close();
    for (const { key } of this.store.list(this.prefix)) this.store.set(key, undefined, 'any');
  }

  /** Of all that is kept of what the application has learned. */
  private get prefix(): string {
    return `${storeKey('selection', this.application)}/`;
  }

  private forEach(act: (state: LearnedState) => void): void {
    act(this.own);
    for (const state of this.contexts.values()) act(state);
  }

  private makeRoom(): void {
    if (this.contexts.size < MOST_CONTEXTS) return;
    for (const [context, state] of this.contexts) {
      if (!state.clean) continue;
      this.contexts.delete(context);
      return;
    }
    // All of them wait for a store that keeps nothing: memory has an end, too.
    for (const [context] of this.contexts) {
      this.contexts.delete(context);
      return;
    }
  }
}
