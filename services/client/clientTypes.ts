import type { LaunchClass } from '../../containers/protocol/index.js';
import type { DefaultReason, FeedbackOutcome } from '../prediction/index.js';

/**
 * An input: numbers for `doubles`, `floats` and `integers`, a text for `strings`, and bytes for `bytes`. Over HTTP and in JSON
 * messages typed arrays are sent as numbers, bytes as base64.
 */
export type ClientInput = string | readonly number[] | Float64Array | Float32Array | Int32Array | Uint8Array;

export interface CallOptions {
  /** Gives the call up; a query that nobody waits for is withdrawn. Rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Beyond it the call rejects with a TimeoutError. */
  readonly timeoutMs?: number | undefined;
}

/** Finite numbers by name, at most 64. */
export type ClientFeatures = Readonly<Record<string, number>>;

export interface PredictOptions extends CallOptions {
  /** Selection context: what one user's feedback taught is applied to that user. */
  readonly context?: string | undefined;
  readonly version?: string | undefined;
  /** Shorter than the application's objective. */
  readonly objectiveUs?: number | undefined;
  /** When the server must have answered, with the default output or, when strict, an error. */
  readonly deadlineMs?: number | undefined;
  /** An error in place of a default output; as the application says unless given. */
  readonly strict?: boolean | undefined;
  /** 1 (most urgent) to 5; 3 unless given. */
  readonly priority?: number | undefined;
  /**
   * How long the kernels that compute it may be made to wait by others on their GPU: the application's class unless given, which
   * is also the highest.
   */
  readonly launchClass?: LaunchClass | undefined;
  /** What the application's policy may choose by. */
  readonly features?: ClientFeatures | undefined;
}

export interface Prediction {
  /** Names the query in feedback. */
  readonly queryId: string;
  /** Any JSON value. An integer that would be another one as a number is a bigint. */
  readonly output: unknown;
  readonly isDefault: boolean;
  readonly defaultReason?: DefaultReason | undefined;
  /** Share of the asked models that agree with the output, 0 to 1. */
  readonly confidence: number;
  readonly cached: boolean;
  readonly models: readonly { readonly name: string; readonly version: string; readonly cached: boolean }[];
}

/** One of `queryId` and `input`. */
export interface Feedback {
  readonly queryId?: string | undefined;
  readonly input?: ClientInput | undefined;
  /** The true output; may be absent where a loss or reward is there. */
  readonly label?: string | number | bigint | undefined;
  /** From 0 to 1, in place of right or wrong. */
  readonly loss?: number | undefined;
  /** Or 1 less the loss. */
  readonly reward?: number | undefined;
  /** Or of single models, by name; not in binary frames. */
  readonly losses?: Readonly<Record<string, number>> | undefined;
  /** Your own name for it: sent again under the same one, it is learned from once. 1 to 128 characters. */
  readonly idempotencyKey?: string | undefined;
  /** With an input; those of a query are remembered with it. */
  readonly features?: ClientFeatures | undefined;
  readonly context?: string | undefined;
}

export type FeedbackJoined = FeedbackOutcome['joined'];

export interface FeedbackResult {
  readonly joined: FeedbackJoined;
  readonly durable: boolean;
}
