import type { Combination, Features, Selection } from '../../selection/index.js';
import type { Clock } from '../../simulator/time/index.js';
import type { HostedSelection, PolicyAsk } from '../policyFiles/index.js';
import type { Deadlines } from './deadlines.js';
import type { LiveQuery } from './liveQuery.js';
import type { PredictionObserver } from './observer.js';
import type { ServedApplication } from './servedApplication.js';
import type { ServedModel } from './servedModel.js';
import type { Query, QueryRefusal, RequestOrigin } from './types.js';

/** Until a policy that runs elsewhere has selected. */
export const NOBODY: Selection = Object.freeze({ arms: [], propensity: 1 });

/** A policy that runs elsewhere may take so much of a query's time each time that it is asked. */
const PATIENCE_SHARE = 0.25;
/** Left of a query's time for the policy to combine what has arrived. */
const COMBINING_SHARE = 0.1;
const LONGEST_COMBINING_NS = 2e6;

/** What the policy of a query is asked, where that runs elsewhere. */
export class HostedPhase {
  /** Under way; the query's place among the deadlines is this ask's. */
  ask: PolicyAsk | undefined = undefined;
  combination: Combination | undefined = undefined;
  isCombined = false;

  /** @param finalNs when the query is answered at the latest */
  constructor(readonly finalNs: number) {}
}

/** What it needs of the engine. */
export interface HostedQueriesSources {
  readonly clock: Clock;
  readonly deadlines: Deadlines<LiveQuery>;
  readonly observer: Pick<PredictionObserver, 'onPolicyFallback'>;
  /** Asks the models that are selected now. */
  go(live: LiveQuery, input: Uint8Array, origin: RequestOrigin, nowNs: number): void;
  /** Asks one model more, or none. */
  goOn(live: LiveQuery, model: ServedModel | undefined, query: Query, nowNs: number): void;
  settle(live: LiveQuery, nowNs: number): void;
  refuse(live: LiveQuery, refusal: QueryRefusal): void;
}

/**
 * Queries whose policy runs elsewhere: each time that it is asked they wait, for a part of their time at most, and go on with the
 * application's first model where it has said nothing by then.
 */
export class HostedQueries {
  constructor(private readonly sources: HostedQueriesSources) {}

  /** Without models there is nothing to select. */
  isAsked({ hostedPolicy, models }: ServedApplication): boolean {
    return hostedPolicy !== undefined && models.size > 0;
  }

  select(
    live: LiveQuery,
    input: Uint8Array,
    origin: RequestOrigin & { readonly features?: Features | undefined },
    nowNs: number,
  ): void {
    const { application, state, context } = live;
    live.hosted = new HostedPhase(live.deadlineNs);
    const { features } = origin;
    this.wait(live, nowNs, (done) =>
      application.hostedPolicy?.select(
        state.state,
        application.models,
        live.id,
        { context, features },
        (selected: HostedSelection) => done(() => this.onSelected(live, input, origin, selected)),
      ),
    );
  }

  /** Asks the policy whom to ask next. @returns false: it does not say */
  asksForMore(live: LiveQuery, nowNs: number): boolean {
    if (live.hosted === undefined) return false;
    const { application, query, pinned, state, selection } = live;
    const policy = application.hostedPolicy;
    if (policy?.escalates !== true || query === undefined || pinned) return false;
    if (live.pending > 0 || nowNs >= live.deadlineNs) return false;
    const arrived = live.tasks.filter((task) => task.arrived);
    this.wait(live, nowNs, (done) =>
      policy.escalate(state.state, selection.arms, arrived, live, (next) =>
        done(() => {
          const model = next === undefined ? undefined : application.models.get(next);
          const isNew = model !== undefined && !live.tasks.some(({ arm }) => arm === next);
          this.sources.goOn(live, isNew ? model : undefined, query, this.sources.clock.nowNs());
        }),
      ),
    );
    return true;
  }

  /** Asks the policy for the answer, once. @returns false: it has been asked, or has no say in it */
  asksToCombine(live: LiveQuery, nowNs: number): boolean {
    const { hosted } = live;
    if (hosted === undefined) return false;
    const { application, query, pinned, state, selection } = live;
    const policy = application.hostedPolicy;
    if (hosted.isCombined || policy?.combines !== true) return false;
    hosted.isCombined = true;
    const arrived = live.tasks.filter((task) => task.arrived);
    if (query === undefined || pinned || arrived.length === 0 || nowNs >= hosted.finalNs) return false;
    this.wait(live, nowNs, (done) =>
      policy.combine(state.state, selection.arms, arrived, live, (combination) =>
        done(() => {
          hosted.combination = combination;
          if (combination === undefined) this.sources.observer.onPolicyFallback(application.record.name);
          this.sources.settle(live, this.sources.clock.nowNs());
        }),
      ),
    );
    return true;
  }

  private onSelected(
    live: LiveQuery,
    input: Uint8Array,
    origin: RequestOrigin,
    selected: HostedSelection,
  ): void {
    const { application, query } = live;
    if (selected !== undefined && 'featureFault' in selected) {
      const { name, message } = selected.featureFault;
      this.sources.refuse(live, { code: 'invalid_input', field: `features.${name}`, message });
      return;
    }
    if (selected === undefined) {
      live.pinned = true;
      live.selection = { arms: [...application.models.keys()].slice(0, 1), propensity: 1 };
      this.sources.observer.onPolicyFallback(application.record.name);
    } else live.selection = selected.selection;
    query?.trace?.onSelected(application.record.policy.name, live.selection.arms);
    this.sources.go(live, input, origin, this.sources.clock.nowNs());
  }

  /** @param ask calls back with what to do then, at once where the policy cannot be asked */
  private wait(
    live: LiveQuery,
    nowNs: number,
    ask: (done: (then: () => void) => void) => PolicyAsk | undefined,
  ): void {
    const { hosted, application } = live;
    if (hosted === undefined) return;
    const { deadlines } = this.sources;
    const { finalNs } = hosted;
    let isDone = false;
    live.isAsking = true;
    const asked = ask((then) => {
      isDone = true;
      if (live.settled) return;
      hosted.ask = undefined;
      live.isAsking = false;
      deadlines.remove(live);
      const reserveNs =
        application.hostedPolicy?.combines === true && !hosted.isCombined
          ? Math.min(LONGEST_COMBINING_NS, COMBINING_SHARE * (finalNs - live.acceptedNs))
          : 0;
      live.deadlineNs = finalNs - reserveNs;
      then();
    });
    if (isDone) return;
    hosted.ask = asked;
    const patienceNs = PATIENCE_SHARE * (finalNs - live.acceptedNs);
    deadlines.remove(live);
    live.deadlineNs = Math.min(finalNs, nowNs + patienceNs);
    deadlines.push(live);
  }
}
