import {
  canaryPolicy,
  candidateShare,
  KeyedDraw,
  PolicyError,
  trialOf,
  type ArmOutcome,
  type CanaryState,
  type Json,
  type Loss,
  type Selection,
  type SelectionPolicy,
  type Trial,
} from '../../selection/index.js';
import { LearnedState, type LearnedStateOwner, type TriedTask } from '../feedback/index.js';
import type { CanaryRecord } from '../registry/index.js';
import { storeKey, storeKeyParts, type Store } from '../store/index.js';
import { policyFeedback } from './judgement.js';
import { NoticedQueries } from './noticedQueries.js';
import type { ServedModel } from './servedModel.js';
import type { FeedbackRequest } from './types.js';

export interface VersionTrialOptions {
  readonly record: CanaryRecord;
  readonly incumbent: ServedModel;
  readonly candidate: ServedModel;
  readonly store: Store;
  readonly seed: number;
  /** It is over, by what is stored: this server has seen it, or another. Told once. */
  readonly onEnded: (record: CanaryRecord, trial: Trial) => void;
  readonly onWriteFailed: (key: string, message: string) => void;
}

/** Which version is asked for one query. */
export interface VersionChoice {
  readonly trial: VersionTrial;
  /** With versions as its arms. */
  selection: Selection;
  readonly model: ServedModel;
  readonly other: ServedModel;
}

/** How a trial stands. */
export interface TrialStatus {
  readonly record: CanaryRecord;
  readonly trial: Trial;
  /** The candidate's share of the queries now: 0 while no replica of it is up. */
  readonly share: number;
}

/**
 * A version of a model that is tried beside the one that serves, by policy `canary` with versions as its arms: below the policies of
 * applications, for which both are the one model. What was seen is kept in the store like any learned state, so that servers
 * which share it see the same trial, and one that starts again goes on with it.
 */
export class VersionTrial implements LearnedStateOwner {
  readonly application: string;
  readonly policy: SelectionPolicy = canaryPolicy;
  readonly store: Store;
  readonly record: CanaryRecord;
  readonly candidate: ServedModel;
  private readonly incumbent: ServedModel;
  private readonly learned: LearnedState;
  private readonly told: NoticedQueries;
  private readonly draw: KeyedDraw;
  private readonly unwatch: () => void;
  private readonly unwatchFault: () => void;
  private isOver = false;

  constructor(private readonly options: VersionTrialOptions) {
    const { record, incumbent, candidate, store, seed } = options;
    this.record = record;
    this.application = record.model;
    this.incumbent = incumbent;
    this.candidate = candidate;
    this.store = store;
    this.draw = new KeyedDraw(seed);
    const key = storeKey('canary', record.model, String(record.number));
    forgetFormer(store, record);
    this.learned = new LearnedState(key, '', this);
    this.told = new NoticedQueries(this.learned);
    this.unwatch = store.watch(key, (change) => {
      if (change.key !== key) return;
      this.learned.onStored(change.value);
      this.check();
    });
    this.unwatchFault = store.watchFault((fault) => {
      if (fault === undefined) this.learned.resume();
    });
    this.check();
  }

  /**
   * Which version answers a query.
   * @param id of the query
   * @param context '' where it has none
   * @returns undefined: the one that serves, and nothing is to be learned of it
   */
  choose(id: string, context: string): VersionChoice | undefined {
    if (this.candidate.replicas.size === 0 || this.trial.phase === 'withdrawn') return undefined;
    const { state } = this.learned;
    const selection = canaryPolicy.select(state as CanaryState, this.draw.of(`${id}\n${this.application}`), {
      context,
    });
    const isCandidate = selection.arms[0] === this.record.candidate;
    const [model, other] = isCandidate ? [this.candidate, this.incumbent] : [this.incumbent, this.candidate];
    return { trial: this, selection, model, other };
  }

  /** What became of the versions that were asked for one query, the first one first. */
  notice(outcomes: readonly ArmOutcome[], nowNs: number): void {
    if (this.trial.phase === 'ramping') this.told.add(outcomes, nowNs);
  }

  /** @param isAlone no other model was asked: what was measured of the answer was measured of this one */
  judge(
    { trial, model, selection, predictions }: TriedTask,
    { label, loss, losses }: Pick<FeedbackRequest, 'label' | 'loss' | 'losses'>,
    isAlone: boolean,
    measure: Loss | undefined,
  ): void {
    if (trial !== this.record.number || this.trial.phase !== 'ramping') return;
    const own = losses !== undefined && Object.hasOwn(losses, model) ? losses[model] : undefined;
    const [served] = selection.arms;
    const request = {
      label,
      ...(isAlone ? { loss } : {}),
      ...(own === undefined ? {} : { losses: { [served]: own } }),
    };
    const judged = policyFeedback(selection, predictions, request, measure);
    if (judged !== undefined) this.learned.observe({ selection, ...judged, done: undefined });
  }

  status(): TrialStatus {
    const { trial, record } = this;
    const isThere = this.candidate.replicas.size > 0;
    return { record, trial, share: isThere ? candidateShare(trial, this.learned.state as CanaryState) : 0 };
  }

  flush(done: () => void): void {
    this.told.tell();
    this.learned.flush(done);
  }

  close(): void {
    this.unwatch();
    this.unwatchFault();
  }

  initial(): Json {
    const { incumbent, candidate, parameters } = this.record;
    return canaryPolicy.init([incumbent, candidate], parameters);
  }

  fit(state: Json): Json {
    return state;
  }

  adopt(value: Json): Json {
    try {
      return canaryPolicy.restore(value);
    } catch (error) {
      if (error instanceof PolicyError) return this.initial();
      throw error;
    }
  }

  onLearned(): void {
    this.check();
  }

  onReplaced(): void {}

  onWriteFailed(key: string, message: string): void {
    this.options.onWriteFailed(key, message);
  }

  private get trial(): Trial {
    const trial = trialOf(this.learned.state as CanaryState);
    if (trial === undefined) throw new Error(`a trial of '${this.application}' has no candidate`);
    return trial;
  }

  /** Told later: whoever stored it is in the middle of something. */
  private check(): void {
    const { trial } = this;
    if (this.isOver || trial.phase === 'ramping') return;
    this.isOver = true;
    queueMicrotask(() => this.options.onEnded(this.record, trial));
  }
}

/** What was seen of earlier candidates. */
function forgetFormer(store: Store, { model, number }: CanaryRecord): void {
  for (const { key } of store.list(`${storeKey('canary', model)}/`)) {
    if (Number(storeKeyParts(key)[2]) < number) store.set(key, undefined, 'any');
  }
}
