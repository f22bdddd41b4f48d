import type { ContainerChannel } from '../../containers/protocol/index.js';
import { KeyedDraw, type Features, type Selection } from '../../selection/index.js';
import type { Clock } from '../../simulator/time/index.js';
import type { ReplicaStatus } from '../batching/index.js';
import { PredictionCache, type CacheStats, type ModelLookups } from '../cache/index.js';
import {
  RecentQueries,
  type ContextCounts,
  type LearnedState,
  type SelectionStates,
} from '../feedback/index.js';
import { answerOf, overQuotaAnswer, taskRefusal } from './answers.js';
import { askModels, askMore, askOther, askShadows, askTwins } from './asking.js';
import { ColdQueries } from './coldQueries.js';
import { Deadlines } from './deadlines.js';
import type { ApplicationLoad } from './applicationLoad.js';
import { Directory } from './directory.js';
import { batchingOptions, type PredictionEngineOptions } from './engineOptions.js';
import { Escalation } from './escalation.js';
import { leaveEvaluation } from './evaluationWait.js';
import { FeedbackDesk } from './feedbackDesk.js';
import { HostedQueries, NOBODY } from './hostedQueries.js';
import { type CachedEvaluation, LiveQuery, type Settlement, type Task, type TaskOwner } from './liveQuery.js';
import { SilentObserver, type PredictionObserver } from './observer.js';
import type { PolicyFault } from '../policyFiles/index.js';
import { ReplicaLink, type ReplicaHandle } from './replicaLink.js';
import { ModelCalls } from './modelCalls.js';
import { outcomeOf, outcomesOf } from './noticedQueries.js';
import { pinnedModel } from './pinnedModel.js';
import {
  SHUTTING_DOWN,
  badContext,
  classRefusal,
  priorityRefusal,
  unknownApplication,
  unknownModel,
} from './refusals.js';
import { inputRefusal, type ServedApplication } from './servedApplication.js';
import type { ServedModel } from './servedModel.js';
import type { TrialStatus } from './versionTrial.js';
import { VotePoll } from './votePoll.js';
import type {
  Answer,
  AnswerSink,
  FeedbackDone,
  FeedbackOutcome,
  FeedbackRequest,
  ModelCall,
  ModelCallSink,
  ModelRequest,
  ModelVote,
  PollRequest,
  PredictionService,
  Query,
  QueryRefusal,
  RequestOrigin,
} from './types.js';

/** How the process of an application's policy file does. */
export interface PolicyFileStatus {
  readonly application: string;
  readonly file: string;
  /** It answers. */
  readonly isUp: boolean;
  /** Times that it was started again. */
  readonly restarts: number;
  /** Why it is not followed, or was not lately. */
  readonly fault: PolicyFault | undefined;
}

const RECENT_QUERIES = 65_536;

/**
 * The way of a prediction: select, cache, batch, combine. Every query gets exactly one answer or refusal, at its deadline
 * at the latest (Clipper 5.2.2), with whatever has arrived by then.
 */
export class PredictionEngine implements PredictionService, TaskOwner {
  private readonly clock: Clock;
  private readonly observer: PredictionObserver;
  private readonly directory: Directory;
  private readonly cache: PredictionCache<CachedEvaluation>;
  private readonly draw: KeyedDraw;
  private readonly recent: RecentQueries<LiveQuery>;
  private readonly deadlines: Deadlines<LiveQuery>;
  private readonly cold: ColdQueries;
  private readonly escalation: Escalation;
  private readonly modelCalls: ModelCalls;
  private readonly hosted: HostedQueries;
  /** What feedback is about, and what is learned of it. */
  readonly desk: FeedbackDesk;
  private live = 0;
  private feedbacks = 0;
  private polls = 0;
  private draining = false;
  private closing = false;
  private readonly drained: (() => void)[] = [];

  /** @throws RangeError when an option is out of its range. */
  constructor(options: PredictionEngineOptions) {
    this.clock = options.clock;
    const port = options.port ?? 'prediction';
    this.observer = options.observer ?? new SilentObserver();
    this.draw = new KeyedDraw(options.seed);
    this.cache = new PredictionCache({
      hashKey: options.hashKey,
      ...(options.cacheBytes === undefined ? {} : { limitBytes: options.cacheBytes }),
    });
    this.recent = new RecentQueries(options.recentQueries ?? RECENT_QUERIES);
    this.deadlines = new Deadlines(this.clock, port, (live, nowNs) => {
      // What its policy has not said by now is gone on without.
      if (live.hosted?.ask !== undefined) live.hosted.ask.giveUp();
      else this.settle(live, nowNs);
    });
    this.cold = new ColdQueries(this.clock, `${port}/contexts`);
    this.escalation = new Escalation(this.clock, `${port}/escalation`, this.cache, this, (live, nowNs) =>
      this.settle(live, nowNs),
    );
    this.hosted = new HostedQueries({
      clock: this.clock,
      deadlines: this.deadlines,
      observer: this.observer,
      go: (live, input, origin, nowNs) => this.go(live, input, origin, undefined, nowNs),
      goOn: (live, model, query, nowNs) => {
        if (model !== undefined) askMore(this.cache, this, live, model, query.input, query, nowNs);
        if (live.pending > 0) this.deadlines.push(live);
        else if (model === undefined || !this.goesOn(live, nowNs)) this.settle(live, nowNs);
      },
      settle: (live, nowNs) => this.settle(live, nowNs),
      refuse: (live, refusal) => this.refuseLive(live, refusal),
    });
    this.modelCalls = new ModelCalls(
      this.clock,
      `${port}/models`,
      this.cache,
      (outcome, latencyNs, budgetNs) => {
        const vote = outcome === 'left' ? undefined : outcome;
        if (vote !== 'refused') this.observer.onModelCall(vote, latencyNs, budgetNs);
        this.checkDrained();
      },
    );
    this.directory = new Directory({
      registry: options.registry,
      store: options.store,
      contexts: options.contexts ?? {},
      batching: batchingOptions(options, this.observer),
      seed: options.seed,
      onWriteFailed: (key, message) => this.observer.onStateWriteFailed(key, message),
      onTrialEnded: options.onTrialEnded ?? (() => undefined),
      onModelGone: (model) => this.cache.removeModel(model.number),
      policyHere: options.policyHere,
      observer: this.observer,
    });
    this.desk = new FeedbackDesk({
      directory: this.directory,
      judged: (queryId) => this.recent.judged(queryId),
      judgeOnce: (queryId) => this.recent.judgeOnce(queryId),
      isJudged: (queryId) => this.recent.isJudged(queryId),
      askArms: (...asked) => this.askArms(...asked),
      observer: this.observer,
    });
  }

  /**
   * Opens the channel and takes the replica into use once it has said hello; the observer hears when it does not fit.
   * @param isApart it was asked for by `requestApart`.
   */
  addReplica(channel: ContainerChannel, isApart = false): ReplicaHandle {
    const link = new ReplicaLink(channel, this.directory, this.observer, isApart);
    channel.open(link);
    return link;
  }

  predict(query: Query, sink: AnswerSink): void {
    this.observer.onQuery(query);
    const application = this.directory.application(query.application);
    const refusal = this.refusalOf(query, application);
    if (refusal !== undefined || application === undefined) {
      this.refuse(query, sink, refusal ?? unknownApplication(query.application));
      return;
    }
    if (application.load.inFlight >= application.maxInFlight) {
      this.give(query, sink, overQuotaAnswer(query, application));
      return;
    }
    let state: LearnedState;
    try {
      state = application.states.of(query.context);
    } catch (error) {
      this.refuse(query, sink, badContext(error));
      return;
    }
    if (state.isKnown || query.version !== undefined) {
      this.serve(query, sink, application, state, this.clock.nowNs());
      return;
    }
    const acceptedNs = this.clock.nowNs();
    // It counts as one that is in flight, as it is.
    application.load.inFlight += 1;
    this.live += 1;
    this.cold.wait(query, application, state, budgetOf(query, application), () => {
      application.load.inFlight -= 1;
      this.live -= 1;
      this.serve(query, sink, application, state, acceptedNs);
    });
  }

  /** @param acceptedNs when it came */
  private serve(
    query: Query,
    sink: AnswerSink,
    application: ServedApplication,
    state: LearnedState,
    acceptedNs: number,
  ): void {
    let pinned: ServedModel | undefined;
    let selection: Selection;
    if (query.version === undefined && this.hosted.isAsked(application)) {
      selection = NOBODY;
    } else if (query.version === undefined) {
      selection = application.policy.select(state.state, this.draw.of(query.id), query);
      query.trace?.onSelected(application.record.policy.name, selection.arms);
    } else {
      const found = pinnedModel(this.directory, application, query.version, query.input);
      if ('code' in found) {
        this.refuse(query, sink, found);
        return;
      }
      pinned = found;
      selection = { arms: [pinned.record.name], propensity: 1 };
    }
    const live = new LiveQuery(
      query.id,
      application,
      state,
      selection,
      pinned !== undefined,
      acceptedNs,
      acceptedNs + budgetOf(query, application),
      application.keptFeatures(query.features, this.observer.writesFeedback),
    );
    live.query = query;
    live.sink = sink;
    this.recent.add(live);
    application.load.inFlight += 1;
    application.load.taken += 1;
    const nowNs = this.clock.nowNs();
    if (selection === NOBODY) this.startHosted(live, query.input, query, nowNs);
    else this.start(live, query.input, query, pinned, nowNs);
  }

  cancel(queryId: string): boolean {
    const cold = this.cold.cancel(queryId);
    if (cold !== undefined) {
      cold.application.load.inFlight -= 1;
      this.live -= 1;
      this.observer.onCancel(cold.query);
      this.checkDrained();
      return true;
    }
    const live = this.recent.find(queryId);
    if (live === undefined || live.settled || live.query === undefined) return false;
    const { query } = live;
    this.withdraw(live);
    this.observer.onCancel(query);
    this.checkDrained();
    return true;
  }

  poll(request: PollRequest, done: (votes: readonly ModelVote[]) => void): ModelCall | undefined {
    const application = this.directory.application(request.application);
    const { input, budgetNs = Infinity } = request;
    if (this.draining || application === undefined || application.inputRefusal(input) !== undefined) {
      done([]);
      return undefined;
    }
    const nowNs = this.clock.nowNs();
    const live = new LiveQuery(
      `poll ${this.polls++}`,
      application,
      application.states.of(''),
      { arms: [...application.models.keys()], propensity: 1 },
      true,
      nowNs,
      nowNs + Math.min(budgetNs, application.objectiveNs),
      undefined,
    );
    live.settlement = new VotePoll(done);
    this.start(live, input, request, undefined, nowNs);
    return {
      cancel: () => {
        if (live.settled) return false;
        this.withdraw(live);
        this.checkDrained();
        return true;
      },
    };
  }

  evaluate(request: ModelRequest, sink: ModelCallSink): ModelCall | undefined {
    const model = this.directory.model(request.model, request.version);
    const refusal = this.draining
      ? SHUTTING_DOWN
      : model === undefined
        ? unknownModel(request)
        : (priorityRefusal(request.priority) ??
          classRefusal(request.launchClass, model.replicas.launchClass) ??
          inputRefusal(model.record.inputType, request.input, [model]));
    if (model === undefined || refusal !== undefined) {
      sink.onModelRefusal(request, refusal ?? unknownModel(request));
      return undefined;
    }
    return this.modelCalls.start(model, request, sink);
  }

  update(request: FeedbackRequest, done: FeedbackDone): void {
    const finish = (outcome: FeedbackOutcome): void => {
      this.observer.onFeedback(request, outcome);
      done(outcome);
    };
    this.desk.update(request, finish);
  }

  inFlight(): number {
    return this.live + this.modelCalls.size;
  }

  /** Of an application's queries; undefined when there is none of the name. */
  load(application: string): Readonly<ApplicationLoad> | undefined {
    return this.directory.application(application)?.load;
  }

  drain(done: () => void): void {
    this.draining = true;
    this.drained.push(done);
    this.checkDrained();
  }

  /** Calls back once everything learned so far is in the store. */
  flush(done: () => void): void {
    const applications = [...this.directory.applications()];
    const trials = [...this.directory.trials()];
    let open = applications.length + trials.length + 1;
    const one = (): void => {
      open -= 1;
      if (open === 0) done();
    };
    for (const { states, noticed } of applications) {
      noticed?.tell();
      states.settle();
      states.flush(one);
    }
    for (const trial of trials) trial.flush(one);
    one();
  }

  /** Stops serving at once: what is in flight is answered with what has arrived or the default, replicas are closed. */
  close(): void {
    this.cold.close();
    this.draining = true;
    this.closing = true;
    const nowNs = this.clock.nowNs();
    for (const live of this.deadlines.clear()) this.settle(live, nowNs);
    this.modelCalls.close();
    for (const model of this.directory.models()) model.replicas.close('the server is shutting down');
    this.directory.close();
    this.deadlines.close();
    this.escalation.close();
  }

  onTaskEnded(task: Task): void {
    const { live, failure } = task;
    if (live.settled && task.arrived) this.recent.hold(live, task.output.length);
    // The memory has it by then.
    if (task.isShadow) return;
    if (failure?.reason === 'model_error' && live.query !== undefined) {
      const { name, version } = task.model.record;
      this.observer.onModelFailure(live.query, name, version, failure.message);
    }
    if (live.settled) {
      if (task.arrived) {
        const { name, version } = task.model.record;
        this.observer.onLatePrediction(live.application.record.name, name, version);
      }
      this.reduce(live);
      return;
    }
    if (task.isPassed) return;
    if (
      failure !== undefined &&
      task.choice !== undefined &&
      askOther(this.cache, task, this.clock.nowNs())
    ) {
      if (!task.arrived) return;
      // From the cache, which has counted it.
      live.pending += 1;
    }
    live.pending -= 1;
    // A query that is still being started settles at the end of its start.
    if (live.pending > 0 || live.heapIndex < 0 || live.isAsking) return;
    const nowNs = this.clock.nowNs();
    if (!this.goesOn(live, nowNs)) this.settle(live, nowNs);
  }

  nowNs(): number {
    return this.clock.nowNs();
  }

  cacheStats(): CacheStats {
    return this.cache.stats();
  }

  /** Of every model version that was asked. */
  *lookups(): IterableIterator<readonly [model: string, version: string, lookups: ModelLookups]> {
    for (const { record, number } of this.directory.models()) {
      const lookups = this.cache.lookups(number);
      if (lookups !== undefined) yield [record.name, record.version, lookups];
    }
  }

  replicas(): ReplicaStatus[] {
    return [...this.directory.models()].flatMap((model) => model.replicas.statuses());
  }

  ready(model: string, version: string): boolean {
    return (this.directory.model(model, version)?.replicas.size ?? 0) > 0;
  }

  /** Of every application: what became of its contexts. */
  *contextCounts(): IterableIterator<readonly [application: string, counts: ContextCounts]> {
    for (const { record, states } of this.directory.applications()) yield [record.name, states.counts()];
  }

  /** What an application has learned; undefined when there is no such application. */
  states(application: string): SelectionStates | undefined {
    return this.directory.application(application)?.states;
  }

  /** Of every application with a policy file. */
  policyFiles(): readonly PolicyFileStatus[] {
    return [...this.directory.applications()].flatMap(({ record, hosted }) => {
      if (hosted === undefined) return [];
      const { isUp, restarts, fault } = hosted;
      return [{ application: record.name, file: record.policyFile?.name ?? '', isUp, restarts, fault }];
    });
  }

  /** Of versions that are tried beside others. */
  trials(): readonly TrialStatus[] {
    return [...this.directory.trials()].map((trial) => trial.status());
  }

  /** Share of queries that the policy gives each model of an application; undefined when there is no such application. */
  selectionShares(application: string, context = ''): ReadonlyMap<string, number> | undefined {
    const served = this.directory.application(application);
    return served?.policy.shares(served.states.of(context).state);
  }

  private refusalOf(query: Query, application: ServedApplication | undefined): QueryRefusal | undefined {
    if (this.draining) return SHUTTING_DOWN;
    let wrong = priorityRefusal(query.priority);
    if (query.launchClass !== undefined && application !== undefined) {
      wrong ??= classRefusal(query.launchClass, application.highestClass);
    }
    wrong ??= application?.featureRefusal(query.features);
    if (wrong !== undefined) return wrong;
    // A pinned version may take another length than the current one; it is checked when it is found.
    if (query.version !== undefined) return undefined;
    return application?.inputRefusal(query.input);
  }

  private refuse(query: Query, sink: AnswerSink, refusal: QueryRefusal): void {
    this.observer.onRefusal(query, refusal);
    try {
      sink.onRefusal(query, refusal);
    } catch (error) {
      this.observer.onSinkFailure(query, error);
    }
  }

  /** Asks the arms of a fresh draw. */
  private askArms(
    application: ServedApplication,
    state: LearnedState,
    request: FeedbackRequest,
    input: Uint8Array,
    settlement: Settlement,
  ): void {
    const id = `feedback ${this.feedbacks++}`;
    const isAsked = this.hosted.isAsked(application);
    const selection = isAsked ? NOBODY : application.policy.select(state.state, this.draw.of(id), request);
    const nowNs = this.clock.nowNs();
    const deadlineNs = nowNs + application.objectiveNs;
    const features = application.keptFeatures(request.features, this.observer.writesFeedback);
    const live = new LiveQuery(id, application, state, selection, false, nowNs, deadlineNs, features);
    live.settlement = settlement;
    if (isAsked) this.startHosted(live, input, request, nowNs);
    else this.start(live, input, request, undefined, nowNs);
  }

  private start(
    live: LiveQuery,
    input: Uint8Array,
    origin: RequestOrigin,
    pinned: ServedModel | undefined,
    nowNs: number,
  ): void {
    this.live += 1;
    this.go(live, input, origin, pinned, nowNs);
  }

  /** Of one whose policy is asked elsewhere. */
  private startHosted(
    live: LiveQuery,
    input: Uint8Array,
    origin: RequestOrigin & { readonly features?: Features | undefined },
    nowNs: number,
  ): void {
    this.live += 1;
    this.hosted.select(live, input, origin, nowNs);
  }

  private go(
    live: LiveQuery,
    input: Uint8Array,
    origin: RequestOrigin,
    pinned: ServedModel | undefined,
    nowNs: number,
  ): void {
    askModels(this.cache, this, live, input, origin, pinned, nowNs);
    if (!this.goesOn(live, nowNs)) this.settle(live, nowNs);
    else if (!live.settled && live.heapIndex < 0) this.deadlines.push(live);
    if (live.selection.shadows !== undefined) askShadows(this.cache, this, live, input, origin, nowNs);
    if (live.tasks.some(({ choice }) => choice !== undefined)) {
      askTwins(this.cache, this, live, input, origin, nowNs);
    }
  }

  /** Asks whom the policy wants next, where nobody is waited for. @returns whether somebody is, the policy or a model */
  private goesOn(live: LiveQuery, nowNs: number): boolean {
    return this.hosted.asksForMore(live, nowNs) || this.escalation.goesOn(live, nowNs);
  }

  /** Ends the waiting of one that nobody waits for: work that nobody else wants never reaches a model. */
  private withdraw(live: LiveQuery): void {
    leaveTraces(live, 'cancelled');
    this.end(live);
    for (const { entry } of [...live.tasks, ...live.shadows, ...live.twins]) {
      if (entry !== undefined) leaveEvaluation(this.cache, entry);
    }
  }

  /** Ends a query's waiting. */
  private end(live: LiveQuery): void {
    live.settled = true;
    this.live -= 1;
    if (live.query !== undefined) live.application.load.inFlight -= 1;
    this.deadlines.remove(live);
    this.escalation.end(live);
    live.query = undefined;
    live.sink = undefined;
    live.settlement = undefined;
  }

  private refuseLive(live: LiveQuery, refusal: QueryRefusal): void {
    const { query, sink, settlement } = live;
    this.end(live);
    settlement?.onRefused?.(refusal);
    if (query !== undefined && sink !== undefined) this.refuse(query, sink, refusal);
    if (this.draining) this.checkDrained();
  }

  private settle(live: LiveQuery, nowNs: number): void {
    if (!this.closing && this.hosted.asksToCombine(live, nowNs)) return;
    const { query, sink, settlement } = live;
    if (live.pending > 0 || live.tasks.length > 1) leaveTraces(live, 'deadline');
    this.end(live);
    const characters = charactersOf(live.tasks) + charactersOf(live.shadows) + charactersOf(live.twins);
    if (characters > 0) this.recent.hold(live, characters);
    settlement?.onSettled(live);
    if (query !== undefined && !live.pinned) {
      notice(live, nowNs);
      if (live.application.lossOfLate !== undefined) this.judgeLate(live);
    }
    if (query !== undefined && sink !== undefined) {
      const refusal = taskRefusal(live);
      // A deadline that is told late, since the host stood still, is a late answer.
      if (refusal === undefined) this.give(query, sink, answerOf(live, nowNs + this.clock.behindNs()));
      else this.refuse(query, sink, refusal);
    }
    if (query !== undefined && live.pending === 0) this.reduce(live);
    if (this.draining) this.checkDrained();
  }

  /**
   * Notes who was late. A single arm that was is judged at once, whether or not anybody judges its query: what it would have said
   * makes no difference. Of several arms, and where shadows are to be judged too, feedback tells the rest.
   */
  private judgeLate(live: LiveQuery): void {
    const { tasks, selection } = live;
    for (const task of tasks) {
      const { arrived, failure, model } = task;
      const isOver = failure === undefined || failure.reason === 'expired';
      task.isLate = !arrived && isOver && !model.replicas.isUnheard;
    }
    const isAlone = tasks.length === 1 && selection.shadows === undefined;
    if (isAlone && tasks[0].isLate && this.recent.judgeOnce(live.id)) {
      this.desk.judgeLate(live.application, live.judged());
    }
  }

  private give(query: Query, sink: AnswerSink, answer: Answer): void {
    this.observer.onAnswer(query, answer);
    try {
      sink.onAnswer(query, answer);
    } catch (error) {
      this.observer.onSinkFailure(query, error);
    }
  }

  /** From now on only feedback may want it: the memory keeps what that needs. */
  private reduce(live: LiveQuery): void {
    // An ensemble's stays as it is: its predictions are what there is to keep.
    if (live.tasks.length !== 1 || live.selection.shadows !== undefined) return;
    const [task] = live.tasks;
    // Another version is to be judged with it.
    if (task.choice !== undefined) return;
    const propensity = live.pinned ? 0 : live.selection.propensity;
    const output = task.arrived ? task.output : undefined;
    this.recent.reduce(live, live.state, task.arm, output, propensity, live.features);
  }

  private checkDrained(): void {
    if (!this.draining || this.inFlight() > 0) return;
    for (const done of this.drained.splice(0)) done();
  }
}

function budgetOf({ budgetNs }: Query, { objectiveNs }: ServedApplication): number {
  return budgetNs !== undefined && budgetNs < objectiveNs ? budgetNs : objectiveNs;
}

/** Of outputs that have arrived. */
function charactersOf(tasks: readonly Task[]): number {
  let characters = 0;
  for (const { arrived, output } of tasks) if (arrived) characters += output.length;
  return characters;
}

/** Tells policies and trials that want to know what became of those who were asked. */
function notice({ application, tasks, selection }: LiveQuery, nowNs: number): void {
  application.noticed?.add(outcomesOf(tasks.map(outcomeOf), selection), nowNs);
  for (const task of tasks) {
    const { choice, firstOutcome } = task;
    if (choice === undefined) continue;
    const last = { ...outcomeOf(task), arm: task.model.record.version };
    const outcomes = firstOutcome === undefined ? [last] : [firstOutcome, last];
    choice.trial.notice(outcomesOf(outcomes, choice.selection), nowNs);
  }
}

/** Whoever still waits in a trace does so no longer. */
function leaveTraces({ tasks }: LiveQuery, reason: 'deadline' | 'cancelled'): void {
  for (const task of tasks) task.endTrace()?.onLeft(task.isPassed ? 'passed' : reason);
}
