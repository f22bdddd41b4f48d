import type { LaunchClass } from '../../containers/protocol/index.js';
import type { ArmOutcome, ArmPrediction, Features, QueryView, Selection } from '../../selection/index.js';
import { Evaluation, type HeapItem } from '../batching/index.js';
import type {
  CacheEntry,
  CacheWaiter,
  Prediction,
  PredictionCache,
  PredictionFailure,
  WaiterTrace,
} from '../cache/index.js';
import type { JudgedQuery, LearnedState, RememberedQuery, TriedTask } from '../feedback/index.js';
import type { HostedPhase } from './hostedQueries.js';
import type { ServedApplication } from './servedApplication.js';
import type { ServedModel } from './servedModel.js';
import type { AnswerSink, Query, QueryRefusal } from './types.js';
import type { VersionChoice } from './versionTrial.js';

/** Whoever wants predictions for something else than an answer: told once, when all are there or the deadline has come. */
export interface Settlement {
  onSettled(live: LiveQuery): void;
  /** The policy does not take it; nothing follows. */
  onRefused?(refusal: QueryRefusal): void;
}

/** The engine's side of a task. */
export interface TaskOwner {
  onTaskEnded(task: Task): void;
  nowNs(): number;
}

const NO_TASKS: readonly Task[] = [];

/** A query between its selection and the end of its last task, which may come after its answer. */
export class LiveQuery implements HeapItem, RememberedQuery, QueryView {
  order = 0;
  heapIndex = -1;
  slot = -1;
  tasks: readonly Task[] = NO_TASKS;
  /** Nobody waits for them. */
  shadows: readonly Task[] = NO_TASKS;
  /** Other versions of models with one on trial. Nobody waits for them either. */
  twins: readonly Task[] = NO_TASKS;
  /** Tasks that are waited for. */
  pending = 0;
  settled = false;
  /** Its policy is asked whom else to ask. */
  isAsking = false;
  /** When somebody else is asked, whether or not those have answered that were. */
  patience: Patience | undefined = undefined;
  /** Query and sink are dropped once settled, so that the memory of a query does not keep its input. */
  query: Query | undefined = undefined;
  sink: AnswerSink | undefined = undefined;
  /** In place of a sink. */
  settlement: Settlement | undefined = undefined;
  /** Where its policy runs elsewhere: what it is asked. */
  hosted: HostedPhase | undefined = undefined;

  constructor(
    readonly id: string,
    readonly application: ServedApplication,
    readonly state: LearnedState,
    public selection: Selection,
    /** The version was pinned by the client, or the policy could not be asked: no draw of it, so nothing to learn from. */
    public pinned: boolean,
    readonly acceptedNs: number,
    public deadlineNs: number,
    /** That its policy looks at. */
    readonly features: Features | undefined,
  ) {}

  get context(): string {
    return this.state.context;
  }

  judged(): JudgedQuery {
    return {
      state: this.state,
      selection: this.selection,
      predictions: [...this.tasks, ...this.shadows].filter((task) => task.arrived),
      features: this.features,
      chosen: !this.pinned,
      late: this.tasks.filter((task) => task.isLate).map(({ arm }) => arm),
      tried: this.tasks.flatMap((task) => triedTask(task) ?? []),
    };
  }
}

/** How long a query waits for the models that it has asked before it asks the next one. */
export class Patience implements HeapItem {
  order = 0;
  heapIndex = -1;

  constructor(
    readonly live: LiveQuery,
    public deadlineNs: number,
  ) {}
}

/** One model asked for one query; it is itself the prediction that policies see. */
export class Task implements CacheWaiter, ArmPrediction {
  nextWaiter: CacheWaiter | undefined;
  output = '';
  scores: Float32Array | undefined = undefined;
  arrived = false;
  cached = false;
  /** Nobody waits for it any longer; what comes in time counts. */
  isPassed = false;
  failure: PredictionFailure | undefined;
  /** It had not answered when its query's time was over, and was not the first that its model ever waited for. */
  isLate = false;
  /** A replica was up when it was asked. */
  isThere = true;
  /** When it was asked; -1 where nobody wants to know how long it takes. */
  askedNs = -1;
  latencyNs = 0;
  /** The entry it waits for. */
  entry: CacheEntry<CachedEvaluation> | undefined;
  trace: WaiterTrace | undefined;
  readonly arm: string;
  /** Of the version that was asked first. */
  firstOutcome: ArmOutcome | undefined;
  /** The other version's. */
  twin: Task | undefined;

  constructor(
    private readonly owner: TaskOwner,
    readonly live: LiveQuery,
    /** Changes when it fails, and another version of the model is asked. */
    public model: ServedModel,
    /** Nobody waits for it. */
    readonly isShadow = false,
    /** By a trial of a version of its model. */
    readonly choice: VersionChoice | undefined = undefined,
  ) {
    this.arm = model.record.name;
  }

  onPrediction(prediction: Prediction): void {
    this.entry = undefined;
    if (this.askedNs >= 0) this.latencyNs = this.owner.nowNs() - this.askedNs;
    this.accept(prediction);
    this.owner.onTaskEnded(this);
  }

  onFailure(failure: PredictionFailure): void {
    this.entry = undefined;
    this.failure = failure;
    if (this.trace !== undefined) this.endTrace()?.onFailure(failure);
    this.owner.onTaskEnded(this);
  }

  accept(prediction: Prediction): void {
    if (this.trace !== undefined) this.endTrace()?.onPrediction();
    this.output = prediction.output;
    this.scores = prediction.scores;
    this.arrived = true;
  }

  /** The trace, for its last call; undefined when it has ended. */
  endTrace(): WaiterTrace | undefined {
    const { trace } = this;
    this.trace = undefined;
    return trace;
  }
}

/** What a trial is told of a task when somebody judges it. */
function triedTask(task: Task): TriedTask | undefined {
  const { choice, arm, twin } = task;
  if (choice === undefined) return undefined;
  const { trial, selection } = choice;
  const predictions: ArmPrediction[] = [];
  for (const one of [task, twin]) {
    if (one?.arrived !== true) continue;
    predictions.push({ arm: one.model.record.version, output: one.output, scores: one.scores });
  }
  return { model: arm, trial: trial.record.number, selection, predictions };
}

/** An evaluation whose result goes to the cache and from there to all who wait. */
export class CachedEvaluation extends Evaluation {
  constructor(
    private readonly cache: PredictionCache<CachedEvaluation>,
    private readonly entry: CacheEntry<CachedEvaluation>,
    nowNs: number,
    deadlineNs: number,
    priority: number,
    launchClass: LaunchClass,
    traceparent: string | undefined,
    source: object | undefined,
  ) {
    super(entry.input, entry.hash, nowNs, deadlineNs, deadlineNs, priority, launchClass, traceparent, source);
  }

  override collectTraces(into: WaiterTrace[]): void {
    this.entry.collectTraces(into);
  }

  override onPrediction(prediction: Prediction): void {
    this.cache.complete(this.entry, prediction);
  }

  override onFailure(failure: PredictionFailure): void {
    this.cache.fail(this.entry, failure);
  }
}
