import type { InputForm } from '../../containers/protocol/index.js';
import type { ConnectionOptions } from '../../services/client/index.js';
import type { TraceRequest } from '../trace/index.js';

export const MODES = ['http', 'websocket', 'v2'] as const;
export type LoadMode = (typeof MODES)[number];

/** An application (in the mode `v2` also a model) that is asked. */
export interface AskedApplication {
  readonly name: string;
  /** Its part of the queries whose trace says nothing of applications. */
  readonly weight: number;
  readonly form: InputForm;
  readonly objectiveMs: number;
  /** Linked models, as far as the server says. */
  readonly models: readonly string[];
  /** Of the Open Inference Protocol. */
  readonly v2Path: string;
}

export const LAGS = ['fixed', 'exponential'] as const;

export interface FeedbackPlan {
  /** Of the answers whose label is known. */
  readonly share: number;
  /** From an answer to its judgement; on average, where the lag is exponential. */
  readonly delayMs: number;
  readonly lag: (typeof LAGS)[number];
}

/** All that a process needs to make its part of a load: it travels to it as it is. */
export interface LoadPlan {
  readonly url: string;
  readonly connection: ConnectionOptions;
  readonly mode: LoadMode;
  /** undefined: a closed loop. */
  readonly trace: TraceRequest | undefined;
  /** undefined: until the trace ends. */
  readonly seconds: number | undefined;
  /** Of queries before the first that counts. */
  readonly warmUpSeconds: number;
  readonly seed: number;
  /** In each process. */
  readonly connections: number;
  /** Queries under way on each WebSocket of a closed loop. */
  readonly inFlight: number;
  readonly applications: readonly AskedApplication[];
  readonly inputs: string | undefined;
  readonly repeats: number | undefined;
  readonly feedback: FeedbackPlan;
  readonly timeoutMs: number;
  /** Of the 99th percentile of lateness; undefined: however late. */
  readonly lateLimitMs: number | undefined;
  readonly answersFile: string | undefined;
  readonly processes: number;
}
