import type { MessagePort } from 'node:worker_threads';
import type { LaunchClass } from '../../../simulator/scheduling/index.js';
import type { BusyTimes } from '../busyMeter.js';
import type { GpuActivity } from '../gpuActivity.js';
import type { NodeSample } from '../gpuHistory.js';
import type {
  CancelFrame,
  ContainerFrame,
  InputType,
  PredictFrame,
  ResultFrame,
} from '../../protocol/index.js';
import type { ReplicaIdentity } from '../replicaIdentity.js';
import type { VerdictReport } from '../verdictReport.js';

/** A line is one channel of the many that share the worker's port. */
export type ToWorker =
  | {
      readonly kind: 'start';
      readonly line: number;
      readonly path: string;
      readonly identity: ReplicaIdentity;
      readonly inputType: InputType;
      readonly inputLength?: number;
      readonly contentHash?: string;
      readonly launchClass?: LaunchClass;
      readonly gpu: number;
    }
  | PredictMessage
  | CancelMessage
  /** The thread that loads models has died: none of what it was asked for will come. */
  | { readonly kind: 'loaderGone' }
  /** The port to the analyst of kernels that was wanted. */
  | { readonly kind: 'analyst'; readonly port: MessagePort }
  /** The thread behind it has died. */
  | { readonly kind: 'analystGone' }
  /** Stops the line's container. */
  | { readonly kind: 'stop'; readonly line: number }
  /** Answer `drained` once no container has a batch in flight. */
  | { readonly kind: 'drain' }
  /** Begin to count the activity of SMs, and to send it with every sample; or stop. */
  | { readonly kind: 'watch'; readonly watched: boolean }
  /** Begin a timeline of at most so many characters. */
  | { readonly kind: 'record'; readonly limit: number }
  | { readonly kind: 'stopRecording' };

export type FromWorker =
  | { readonly kind: 'frame'; readonly line: number; readonly frame: Exclude<ContainerFrame, ResultFrame> }
  | ResultMessage
  /** What the line's container held of its GPU is given back. */
  | { readonly kind: 'freed'; readonly line: number }
  | { readonly kind: 'drained' }
  /** At a steady pace. `activity` is empty while nobody watches. */
  | {
      readonly kind: 'sample';
      readonly sample: NodeSample;
      readonly activity: readonly GpuActivity[];
      /** Undefined where launches are not judged. */
      readonly verdicts?: VerdictReport;
    }
  /** There are kernels to analyse, and no port to an analyst. */
  | { readonly kind: 'analystWanted' }
  /** A piece of the timeline that is being recorded. */
  | { readonly kind: 'timeline'; readonly text: string; readonly isLast: boolean };

export interface CancelMessage {
  readonly kind: 'cancel';
  readonly line: number;
  readonly frame: CancelFrame;
}

/** A predict frame by columns, with all inputs in one buffer that changes its thread. */
export interface PredictMessage {
  readonly kind: 'predict';
  readonly line: number;
  readonly batchId: number;
  readonly ids: readonly number[];
  readonly budgetsNs: readonly number[];
  /** Where each item's bytes end. */
  readonly ends: readonly number[];
  readonly bytes: Uint8Array;
  /** What else the frame says; a new field of it travels unseen. */
  readonly rest: Omit<PredictFrame, 'kind' | 'batchId' | 'items'>;
}

/** A result frame by columns, with all scores in one buffer that changes its thread. */
export interface ResultMessage {
  readonly kind: 'result';
  readonly line: number;
  readonly batchId: number;
  /** What else the frame says. */
  readonly rest: Omit<ResultFrame, 'kind' | 'batchId' | 'results'>;
  readonly ids: readonly number[];
  /** '' for an answer, the code of a failure otherwise. */
  readonly codes: readonly string[];
  /** Outputs and messages. */
  readonly texts: readonly string[];
  /** Where each item's scores end; -1 for an item without. */
  readonly scoreEnds: readonly number[];
  readonly scores: Float32Array;
  readonly times: NodeTimes;
}

export interface NodeTimes extends BusyTimes {
  /** The largest lateness of an event so far. */
  readonly clockLagNs: number;
}
