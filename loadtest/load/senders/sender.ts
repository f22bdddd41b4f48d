import type { Features } from '../../../selection/index.js';
import type { Prediction } from '../../../services/client/index.js';
import type { AskedApplication } from '../loadPlan.js';

/** One query of a load. */
export interface LoadQuery {
  readonly number: number;
  readonly application: AskedApplication;
  readonly context: string | undefined;
  readonly features?: Features | undefined;
  readonly input: Uint8Array;
  readonly label: string | undefined;
}

/** What is kept of a prediction; `queryId` is '' where the protocol has none. */
export type LoadAnswer = Pick<
  Prediction,
  'queryId' | 'output' | 'isDefault' | 'defaultReason' | 'cached' | 'models'
>;

/** What became of a query. */
export type Outcome =
  | { readonly kind: 'answer'; readonly answer: LoadAnswer }
  /** The server says why not. */
  | { readonly kind: 'refused'; readonly code: string; readonly status: number; readonly message: string }
  /** There was no answer of the server. */
  | {
      readonly kind: 'failed';
      readonly code: 'unreachable' | 'timeout' | 'unexpected_answer';
      readonly message: string;
    };

export interface FeedbackMessage {
  readonly application: AskedApplication;
  readonly context: string | undefined;
  readonly queryId: string;
  readonly label: string;
}

/** A query as it will go over the wire. */
export type Prepared = (done: (outcome: Outcome) => void) => void;

/** Brings queries to a server over connections of its own. */
export interface Sender {
  /** Does all that can be done before the query's time. Calling what it returns sends the query; `done` is called once. */
  prepare(query: LoadQuery): Prepared;
  /** How it was joined, or the code of the refusal. */
  feedback(message: FeedbackMessage): Promise<string>;
  /** Opens what takes time to open, so that no query has to wait for it. */
  warmUp(): Promise<void>;
  close(): Promise<void>;
}
