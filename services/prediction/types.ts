import type { LaunchClass } from '../../containers/protocol/index.js';
import type { Features } from '../../selection/index.js';
import type { Lookup, WaiterTrace } from '../cache/index.js';

/** What models are asked under in a trace. Only traced requests have one: the others cost a comparison with undefined. */
export interface TraceScope {
  onAsked(model: string, version: string, lookup: Lookup): WaiterTrace;
}

/** Where a request comes from in a trace, and how urgent it is. */
export interface RequestOrigin {
  readonly priority?: number | undefined;
  readonly launchClass?: LaunchClass | undefined;
  readonly trace?: TraceScope | undefined;
  readonly traceparent?: string | undefined;
  readonly source?: object | undefined;
}

/** The trace of one query, from its acceptance; ends with its answer, refusal or cancellation. */
export interface QueryTrace extends TraceScope {
  /** As W3C trace context has it. */
  readonly traceId: string;
  /** The policy has chosen; nothing of it when the client named a version. */
  onSelected(policy: string, arms: readonly string[]): void;
  onAnswer(answer: Answer): void;
  onRefusal(refusal: QueryRefusal): void;
  onCancel(): void;
}

/** Whoever sent an input, as any object that lives as long as it may send more: an API key, or a connection. Sources of bad ones are limited. */
export type InputSource = object;

/** A query on its way through selection, cache and batching. */
export interface Query {
  /** Unique string that feedback may name later. */
  readonly id: string;
  readonly application: string;
  /** The input as bytes of the application's input type (little-endian; UTF-8 for strings). */
  readonly input: Uint8Array;
  /** Selection state is kept apart for each context; '' is the application's own. */
  readonly context: string;
  /** What its policy may choose by. */
  readonly features?: Features | undefined;
  /** Only this version, of the one linked model that has it. */
  readonly version?: string | undefined;
  /** Shorter than the application's objective, when the client asked for it. Nanoseconds. */
  readonly budgetNs?: number | undefined;
  /** Its place in the queues: a whole number from 1 (most urgent) to 5; 3 when undefined. */
  readonly priority?: number | undefined;
  /** Of the launches that compute it; the application's when undefined. */
  readonly launchClass?: LaunchClass | undefined;
  readonly traceparent?: string | undefined;
  readonly source?: InputSource;
  /** Set when the request is traced. */
  readonly trace?: QueryTrace | undefined;
}

export type DefaultReason =
  /** No model is linked to the application, or none that its policy names. */
  | 'no_linked_model'
  /** Models are linked, none has a replica that is up. */
  | 'no_replica'
  /** No prediction arrived by the deadline. */
  | 'deadline'
  /** Every asked model failed on this input. */
  | 'model_error'
  /**
   * The queues are full, or too long for an answer by the deadline, or the application has as many queries in flight as it
   * may: answered at once.
   */
  | 'overload'
  /** What arrived did not agree well enough. */
  | 'low_confidence';

/** A model's part in an answer. */
export interface AnsweringModel {
  readonly name: string;
  readonly version: string;
  readonly cached: boolean;
}

export interface Answer {
  readonly queryId: string;
  /** JSON text or any other string. */
  readonly output: string;
  readonly isDefault: boolean;
  readonly defaultReason?: DefaultReason;
  /** With `overload`: when a queue is expected to have room again. */
  readonly retryAfterNs?: number | undefined;
  readonly models: readonly AnsweringModel[];
  /** Share of asked models that agree with the output, 0 to 1. */
  readonly confidence: number;
  /** Every contributing prediction came from the cache. */
  readonly cached: boolean;
  /** From the query's acceptance to its answer. */
  readonly latencyNs: number;
}

/** A failure of the query itself, which no default answers. */
export interface QueryRefusal {
  readonly code:
    | 'unknown_application'
    | 'unknown_version'
    | 'invalid_input'
    | 'shutting_down'
    | 'unknown_query'
    | 'unlearnable_feedback'
    | 'feedback_not_kept'
    | 'holder_silent'
    | 'body_too_large';
  readonly message: string;
  readonly field?: string;
}

/** May be called before `predict` returns: a cached answer waits for nothing. */
export interface AnswerSink {
  onAnswer(query: Query, answer: Answer): void;
  onRefusal(query: Query, refusal: QueryRefusal): void;
}

export interface FeedbackRequest {
  readonly application: string;
  readonly context: string;
  /** The query that is judged; its selection gets the credit. */
  readonly queryId?: string | undefined;
  /** Or its input: joined with cached predictions, evaluated afresh where there are none. */
  readonly input?: Uint8Array | undefined;
  /** With an input; those of a query that is named are remembered with it. */
  readonly features?: Features | undefined;
  /** The true output; undefined: nobody knows it, and one of the losses is there. */
  readonly label?: string | undefined;
  readonly loss?: number | undefined;
  /** Of single models, by name, where others are not judged: from 0 to 1. */
  readonly losses?: Readonly<Record<string, number>> | undefined;
  /** The sender's own name for it, of this application: under the same one it is learned from once. */
  readonly idempotencyKey?: string | undefined;
  /** Set when the request is traced. */
  readonly trace?: TraceScope | undefined;
}

export interface FeedbackOutcome {
  readonly accepted: boolean;
  /**
   * How predictions were found. `queued`: they are looked for when it is its turn. `repeated`: the query had been judged,
   * or feedback with this key was there, and nothing more was learned. `pinned`: the state learns nothing at present.
   */
  readonly joined: 'query' | 'cache' | 'evaluated' | 'queued' | 'repeated' | 'pinned' | 'none';
  /** What was learned, or is to be, has reached the store's disk; false: it is in memory and will be written again. */
  readonly durable: boolean;
  readonly refusal?: QueryRefusal;
}

export type FeedbackDone = (outcome: FeedbackOutcome) => void;

/** An input that every linked model is asked about. */
export interface PollRequest {
  readonly application: string;
  readonly input: Uint8Array;
  /** Shorter than the application's objective. Nanoseconds. */
  readonly budgetNs?: number | undefined;
  readonly traceparent?: string | undefined;
  readonly source?: InputSource | undefined;
  /** Set when the request is traced. */
  readonly trace?: TraceScope | undefined;
}

export type MissingVote = 'deadline' | 'no_replica' | 'model_error' | 'overload';

/** What one linked model says about an input by itself. */
export interface ModelVote extends AnsweringModel {
  /** undefined: none came, for the reason in `missing`. */
  readonly output?: string;
  /** One for each of the model's classes, where it gives them. */
  readonly scores?: Float32Array;
  readonly missing?: MissingVote;
  /** With `overload`, of a model that was asked by name: when its queue is expected to have room again. */
  readonly retryAfterNs?: number;
}

/** An input for one version of one model, whatever is linked to what. */
export interface ModelRequest {
  readonly model: string;
  readonly version: string;
  /** The input as bytes of the model's input type. */
  readonly input: Uint8Array;
  /** How long the answer may take. Nanoseconds. */
  readonly budgetNs: number;
  /** As of a query. */
  readonly priority?: number | undefined;
  /** Of the launches that compute it; the model's when undefined. */
  readonly launchClass?: LaunchClass | undefined;
  readonly traceparent?: string | undefined;
  readonly source?: InputSource;
  /** Set when the request is traced. */
  readonly trace?: TraceScope | undefined;
}

/** Called once for each request, in either way; never after a call was cancelled. */
export interface ModelCallSink {
  onVote(request: ModelRequest, vote: ModelVote): void;
  onModelRefusal(request: ModelRequest, refusal: QueryRefusal): void;
}

/** Models that are asked past every policy. */
export interface ModelCall {
  /** Nobody waits for it any more: what has not begun never does, and nobody is called back. False when it has ended. */
  cancel(): boolean;
}

/** Where feedback goes. */
export type FeedbackService = Pick<PredictionService, 'update'>;

/** The query path in process. Callbacks only; every query gets exactly one answer or refusal, by its deadline. */
export interface PredictionService {
  predict(query: Query, sink: AnswerSink): void;
  /**
   * Nobody waits for this query any more: its sink hears nothing further, and work that only it wanted never reaches a
   * model. False when it is answered already or unknown.
   */
  cancel(queryId: string): boolean;
  /**
   * Asks every linked model at its current version, whatever the policy would choose, through cache and queues like a
   * query. Calls back once, by the deadline, with one vote a model in order of linking; nothing is learned from it. No
   * votes for an application that is unknown, an input that is refused, and while draining: called back before this returns
   * undefined.
   */
  poll(request: PollRequest, done: (votes: readonly ModelVote[]) => void): ModelCall | undefined;
  /**
   * Asks one version of one model by name, past every policy, through cache and queues like a query; nothing is learned
   * from it. The sink may be called before this returns, and is by the deadline.
   * @returns undefined when it was refused.
   */
  evaluate(request: ModelRequest, sink: ModelCallSink): ModelCall | undefined;
  /** Whether a model version has a replica that is up. */
  ready(model: string, version: string): boolean;
  update(feedback: FeedbackRequest, done: FeedbackDone): void;
  /** Queries without an answer yet. */
  inFlight(): number;
  /** Refuses new queries and calls back once none is in flight. */
  drain(done: () => void): void;
}
