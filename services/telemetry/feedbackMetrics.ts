import type { QueueState } from '../feedbackQueue/index.js';
import { labelText, type MetricFamily } from './metricFamily.js';

/** What is read of the feedback queue when somebody scrapes. */
export interface FeedbackQueueState extends QueueState {
  readonly spooled: number;
  readonly spooledBytes: number;
  /** That the spool may have; 0: there is none. */
  readonly spoolLimitBytes: number;
}

/** @param state undefined where feedback goes by no queue: then there are no series */
export function feedbackQueueFamilies(state: () => FeedbackQueueState | undefined): readonly MetricFamily[] {
  const gauge = (
    name: string,
    unit: MetricFamily['unit'],
    help: string,
    read: (state: FeedbackQueueState) => number,
  ): MetricFamily => ({
    name,
    type: 'gauge',
    unit,
    labels: [],
    help,
    write: (to) => {
      const present = state();
      if (present !== undefined) to.value('', read(present));
    },
  });
  return [
    {
      name: 'windjammer_feedback_queue_jobs',
      type: 'gauge',
      unit: '',
      labels: ['state'],
      help: 'Feedback in Redis that is not learned yet: waiting, active (being learned), delayed (tried again later), failed (kept for `windjammer queue`); of all frontends together',
      write: (to) => {
        const present = state();
        if (present === undefined) return;
        const { waiting, active, delayed, failed } = present;
        for (const [name, count] of Object.entries({ waiting, active, delayed, failed })) {
          to.value(labelText({ state: name }), count);
        }
      },
    },
    gauge(
      'windjammer_feedback_queue_lag_seconds',
      'seconds',
      'How long the oldest feedback in Redis has waited to be learned',
      ({ lagSeconds }) => lagSeconds,
    ),
    gauge(
      'windjammer_feedback_spooled',
      '',
      'Feedback that this frontend keeps until Redis is back',
      ({ spooled }) => spooled,
    ),
    gauge(
      'windjammer_feedback_spooled_bytes',
      'bytes',
      'Bytes that it takes',
      ({ spooledBytes }) => spooledBytes,
    ),
    gauge(
      'windjammer_feedback_spool_limit_bytes',
      'bytes',
      'Bytes that it may take; 0 without a data directory',
      ({ spoolLimitBytes }) => spoolLimitBytes,
    ),
  ];
}
