import type { QueueState } from '../feedbackQueue/index.js';
import { FEEDBACK_QUEUE_METRICS } from '../metrics/index.js';
import { familiesOf, labelText, NO_LABELS, type MetricFamily, type ValueWriter } from './metricFamily.js';

/** What is read of the feedback queue when somebody scrapes. */
export interface FeedbackQueueState extends QueueState {
  readonly spooled: number;
  readonly spooledBytes: number;
  /** That the spool may have; 0: there is none. */
  readonly spoolLimitBytes: number;
}

/** @param state undefined where feedback goes by no queue: then there are no series */
export function feedbackQueueFamilies(state: () => FeedbackQueueState | undefined): readonly MetricFamily[] {
  const gauge = (read: (state: FeedbackQueueState) => number) => (to: ValueWriter<never>) => {
    const present = state();
    if (present !== undefined) to.value(NO_LABELS, read(present));
  };
  return familiesOf(FEEDBACK_QUEUE_METRICS, {
    windjammer_feedback_queue_jobs: (to) => {
      const present = state();
      if (present === undefined) return;
      const { waiting, active, delayed, failed } = present;
      for (const [name, count] of Object.entries({ waiting, active, delayed, failed })) {
        to.value(labelText({ state: name }), count);
      }
    },
    windjammer_feedback_queue_lag_seconds: gauge(({ lagSeconds }) => lagSeconds),
    windjammer_feedback_spooled: gauge(({ spooled }) => spooled),
    windjammer_feedback_spooled_bytes: gauge(({ spooledBytes }) => spooledBytes),
    windjammer_feedback_spool_limit_bytes: gauge(({ spoolLimitBytes }) => spoolLimitBytes),
  });
}
