import type { JobsState } from '../jobs/index.js';
import { JOB_METRICS } from '../metrics/index.js';
import { familiesOf, labelText, NO_LABELS, type MetricFamily } from './metricFamily.js';

/** What is read of batch jobs when somebody scrapes. */
export function jobFamilies(state: () => JobsState): readonly MetricFamily[] {
  return familiesOf(JOB_METRICS, {
    windjammer_jobs: (to) => {
      const { jobs, spooled, unreadable } = state();
      for (const [name, count] of Object.entries({ ...jobs, spooled, unreadable }))
        to.value(labelText({ state: name }), count);
    },
    windjammer_job_lines_pending: (to) => to.value(NO_LABELS, state().linesPending),
    windjammer_job_lag_seconds: (to) => to.value(NO_LABELS, state().lagSeconds),
    windjammer_job_lines_total: (to) => {
      for (const [outcome, count] of Object.entries(state().lines)) to.value(labelText({ outcome }), count);
    },
  });
}
