import type { HistogramTally } from './histogramTally.js';

/** What has been counted of one application since it is known. `latency` is the tally itself, in seconds: to be read and let be. */
export interface ApplicationTraffic {
  /** '': models that were asked by their name. */
  readonly name: string;
  readonly predicted: number;
  readonly cancelled: number;
  /** Answered with an error. */
  readonly refused: number;
  /** By reason. */
  readonly defaults: ReadonlyMap<string, number>;
  readonly feedback: number;
  readonly latency: HistogramTally;
}

/** The same of one model version. `latency`: from when the oldest input of a batch was queued to the batch's results. */
export interface ModelTraffic {
  readonly model: string;
  readonly version: string;
  readonly batches: number;
  readonly inputs: number;
  readonly latency: HistogramTally;
}

/** Counts that go on while they are read: whoever looks twice knows what happened in between. */
export interface Traffic {
  readonly applications: Iterable<ApplicationTraffic>;
  readonly models: Iterable<ModelTraffic>;
  /** Requests for applications that nobody knows. */
  readonly refusedUnknown: number;
}
