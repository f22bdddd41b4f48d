import type { Answer, BatchRecord, DefaultReason } from '../../services/prediction/index.js';
import { Durations, type DurationsImage } from './durations.js';
import { SizeBins } from './sizeBins.js';

/** Of an answer, what is counted. */
export type CountedAnswer = Pick<Answer, 'output' | 'isDefault' | 'defaultReason' | 'cached' | 'latencyNs'>;

/** A tally on its way between processes. */
export interface ApplicationImage {
  readonly arrivals: number;
  readonly answers: number;
  readonly inTime: number;
  readonly defaults: Partial<Record<DefaultReason, number>>;
  readonly refusals: Readonly<Record<string, number>>;
  readonly cachedAnswers: number;
  readonly labelled: number;
  readonly correct: number;
  readonly feedback: Readonly<Record<string, number>>;
  readonly latencies: DurationsImage;
}

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
  /** Predictions whose latency was within the objective. */
  inTime = 0;

  constructor(private readonly objectiveMs: number) {}

  answer(answer: CountedAnswer, label: string | undefined): void {
    this.answers += 1;
    this.latencies.record(answer.latencyNs);
    const { defaultReason: reason } = answer;
    if (!answer.isDefault && answer.latencyNs <= this.objectiveMs * 1e6) this.inTime += 1;
    if (reason !== undefined) this.defaults[reason] = (this.defaults[reason] ?? 0) + 1;
    if (answer.cached) this.cachedAnswers += 1;
    if (label === undefined) return;
    this.labelled += 1;
    if (!answer.isDefault && answer.output === label) this.correct += 1;
  }

  image(): ApplicationImage {
    const { arrivals, answers, inTime, defaults, refusals, cachedAnswers, labelled, correct, feedback } =
      this;
    const latencies = this.latencies.image();
    return {
      arrivals,
      answers,
      inTime,
      defaults,
      refusals,
      cachedAnswers,
      labelled,
      correct,
      feedback,
      latencies,
    };
  }

  /** Takes in what another process has counted of the same application. */
  add(image: ApplicationImage): void {
    this.arrivals += image.arrivals;
    this.answers += image.answers;
    this.inTime += image.inTime;
    this.cachedAnswers += image.cachedAnswers;
    this.labelled += image.labelled;
    this.correct += image.correct;
    addCounts(this.defaults, image.defaults);
    addCounts(this.refusals, image.refusals);
    addCounts(this.feedback, image.feedback);
    this.latencies.add(Durations.of(image.latencies));
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

export function addCounts(
  to: Partial<Record<string, number>>,
  from: Readonly<Partial<Record<string, number>>>,
): void {
  for (const [key, count] of Object.entries(from)) to[key] = (to[key] ?? 0) + (count ?? 0);
}
