import type { Answer, BatchRecord, DefaultReason } from '../../services/prediction/index.js';
import { Durations } from './durations.js';
import { SizeBins } from './sizeBins.js';

/** What became of one application's queries. */
export class ApplicationTally {
  arrivals = 0;
  answers = 0;
  readonly defaults: Partial<Record<DefaultReason, number>> = {};
  readonly refusals: Record<string, number> = {};
  cachedAnswers = 0;
  /** Answers, defaults among them, whose true output is known. */
  labelled = 0;
  correct = 0;
  /** Feedback by how predictions were found for it; `refused` when they were not. */
  readonly feedback: Record<string, number> = {};
  readonly latencies = new Durations();

  answer(answer: Answer, label: string | undefined): void {
    this.answers += 1;
    this.latencies.record(answer.latencyNs);
    const { defaultReason: reason } = answer;
    if (reason !== undefined) this.defaults[reason] = (this.defaults[reason] ?? 0) + 1;
    if (answer.cached) this.cachedAnswers += 1;
    if (label === undefined) return;
    this.labelled += 1;
    if (!answer.isDefault && answer.output === label) this.correct += 1;
  }

  refuse(code: string): void {
    this.refusals[code] = (this.refusals[code] ?? 0) + 1;
  }

  judge(joined: string): void {
    this.feedback[joined] = (this.feedback[joined] ?? 0) + 1;
  }
}

/** What one model version did. */
export class ModelTally {
  /** Answers that it was part of. */
  answers = 0;
  cachedAnswers = 0;
  /** Predictions that came after their query's deadline. */
  late = 0;
  batches = 0;
  items = 0;
  failedItems = 0;
  largestBatch = 0;
  readonly sizes = new SizeBins();
  readonly service = new Durations();
  /** The longest wait in the queue, by batch. */
  readonly queueing = new Durations();

  batch(record: BatchRecord): void {
    this.batches += 1;
    this.items += record.size;
    this.failedItems += record.failed;
    this.largestBatch = Math.max(this.largestBatch, record.size);
    this.sizes.record(record.size);
    this.service.record(record.serviceNs);
    this.queueing.record(record.longestQueueNs);
  }
}
