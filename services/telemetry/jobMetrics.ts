import type { JobsState } from '../jobs/index.js';
import { labelText, type MetricFamily } from './metricFamily.js';

/** What is read of batch jobs when somebody scrapes. */
export function jobFamilies(state: () => JobsState): readonly MetricFamily[] {
  const gauge = (
    name: string,
    unit: MetricFamily['unit'],
    help: string,
    read: (state: JobsState) => number,
  ): MetricFamily => ({
    name,
    type: 'gauge',
    unit,
    labels: [],
    help,
    write: (to) => to.value('', read(state())),
  });
  return [
    {
      name: 'windjammer_jobs',
      type: 'gauge',
      unit: '',
      labels: ['state'],
      help: 'Batch jobs that there are: running, done, cancelled, of all frontends together where they share a store; spooled, which this frontend keeps until Redis takes them; unreadable, whose files are damaged',
      write: (to) => {
        const { jobs, spooled, unreadable } = state();
        for (const [name, count] of Object.entries({ ...jobs, spooled, unreadable }))
          to.value(labelText({ state: name }), count);
      },
    },
    gauge(
      'windjammer_job_lines_pending',
      '',
      'Lines of running batch jobs without an answer, of all frontends together where they share a store',
      ({ linesPending }) => linesPending,
    ),
    gauge(
      'windjammer_job_lag_seconds',
      'seconds',
      'The longest time for which a running batch job has got no results',
      ({ lagSeconds }) => lagSeconds,
    ),
    {
      name: 'windjammer_job_lines_total',
      type: 'counter',
      unit: '',
      labels: ['outcome'],
      help: 'Lines of batch jobs whose answer this frontend has brought: answered, or failed (it is an error)',
      write: (to) => {
        for (const [outcome, count] of Object.entries(state().lines)) to.value(labelText({ outcome }), count);
      },
    },
  ];
}
