import {
  addCounts,
  ApplicationTally,
  Durations,
  Timeline,
  windowWidthNs,
  type ApplicationImage,
  type DurationsImage,
  type TimelineImage,
} from '../measure/index.js';
import type { LoadPlan } from './loadPlan.js';

/** What one process has counted, on its way to the one that reports. */
export interface LoadImage {
  readonly applications: Readonly<Record<string, ApplicationImage>>;
  readonly timeline: TimelineImage;
  readonly lateness: DurationsImage;
  readonly modelAnswers: Readonly<Record<string, number>>;
  readonly cachedModelAnswers: Readonly<Record<string, number>>;
  readonly judgements: number;
  readonly unanswered: number;
  /** Of the last arrival, since the start. */
  readonly endNs: number;
  /** Until the last answer, since the start. */
  readonly drainedNs: number;
  readonly endedEarly: string | null;
}

/** What became of a load's queries. */
export class LoadCounts {
  /** By application. */
  readonly tallies: ReadonlyMap<string, ApplicationTally>;
  readonly timeline: Timeline;
  /** From when a query was to leave until it did. */
  readonly lateness = new Durations();
  /** Of answers, the models that had a part in them, as `APPLICATION/MODEL`. */
  readonly modelAnswers: Partial<Record<string, number>> = {};
  readonly cachedModelAnswers: Partial<Record<string, number>> = {};
  judgements = 0;
  unanswered = 0;
  endNs = 0;
  drainedNs = 0;
  endedEarly: string | null = null;

  constructor({ applications, seconds }: Pick<LoadPlan, 'applications' | 'seconds'>) {
    this.tallies = new Map(
      applications.map(({ name, objectiveMs }) => [name, new ApplicationTally(objectiveMs)]),
    );
    this.timeline = new Timeline(windowWidthNs(seconds === undefined ? undefined : seconds * 1e9));
  }

  image(): LoadImage {
    const { judgements, unanswered, endNs, drainedNs, endedEarly } = this;
    return {
      applications: Object.fromEntries([...this.tallies].map(([name, tally]) => [name, tally.image()])),
      timeline: this.timeline.image(),
      lateness: this.lateness.image(),
      modelAnswers: this.modelAnswers as Record<string, number>,
      cachedModelAnswers: this.cachedModelAnswers as Record<string, number>,
      judgements,
      unanswered,
      endNs,
      drainedNs,
      endedEarly,
    };
  }

  /** Takes in what another process has counted of the same load. */
  add(image: LoadImage): void {
    for (const [name, tally] of this.tallies) tally.add(image.applications[name]);
    this.timeline.add(image.timeline);
    this.lateness.add(Durations.of(image.lateness));
    addCounts(this.modelAnswers, image.modelAnswers);
    addCounts(this.cachedModelAnswers, image.cachedModelAnswers);
    this.judgements += image.judgements;
    this.unanswered += image.unanswered;
    this.endNs = Math.max(this.endNs, image.endNs);
    this.drainedNs = Math.max(this.drainedNs, image.drainedNs);
    this.endedEarly ??= image.endedEarly;
  }
}
