import type { VerdictMetrics } from '../../simulator/idempotency/index.js';

/** What a node has found of launches, whether they may be killed and run again. Plain data: it changes threads. */
export interface VerdictReport extends VerdictMetrics {
  /** Undefined where kernels are analysed when they are needed. */
  readonly analysis?: AnalysisReport;
}

/** Kernels that a node has had analysed in the background. */
export interface AnalysisReport {
  readonly waiting: number;
  readonly analysed: number;
  /** Had been analysed before, by this process or an earlier one. */
  readonly remembered: number;
  /** Stay unknown: their launches count as not idempotent. */
  readonly failed: number;
  /** A solver has found more of them than analysis alone had. */
  readonly improved: number;
  /** A solver might find more of them, and none is installed. */
  readonly unasked: number;
  /** A solver was asked about them, and broke. */
  readonly broken: number;
  /** Of the host, those remembered included. */
  readonly hostSeconds: number;
  /** For one kernel. */
  readonly mostHostSeconds: number;
}
