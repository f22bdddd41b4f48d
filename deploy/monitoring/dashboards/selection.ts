import { matching, most, rate, sum, value } from '../../../services/metrics/index.js';
import { line, RANGE, variable, type Board } from './board.js';

const CHOSEN = { application: matching('$application') };

export const SELECTION: Board = {
  name: 'selection',
  title: 'Windjammer selection and feedback',
  description: 'Which models applications ask, and what they learn of it',
  variables: [variable('application', 'windjammer_application_objective_seconds')],
  rows: [
    {
      title: 'Selection',
      panels: [
        {
          title: 'Share of each model',
          description: 'Of the queries of an application, or of the vote of its ensemble',
          unit: 'percentunit',
          lines: [
            line(
              most(['application', 'model'], value('windjammer_selection_share', CHOSEN)),
              ({ application, model }) => `${application}: ${model}`,
            ),
          ],
        },
        {
          title: 'Feedback',
          description: 'By whether anything was learned, and where the judged predictions came from',
          unit: 'ops',
          lines: [
            line(
              sum(['application', 'result', 'joined'], rate('windjammer_feedback_total', RANGE, CHOSEN)),
              ({ application, result, joined }) => `${application} ${result}, ${joined}`,
            ),
          ],
        },
        {
          title: 'Learned weights that could not be written',
          unit: 'ops',
          lines: [line(rate('windjammer_state_writes_refused_total', RANGE), ({ instance }) => instance)],
        },
      ],
    },
    {
      title: 'Contexts',
      panels: [
        {
          title: 'Contexts in memory and in the store',
          unit: 'none',
          lines: [
            line(
              most(['application'], value('windjammer_contexts_kept', CHOSEN)),
              ({ application }) => `${application} in the store`,
            ),
            line(
              most(['application'], value('windjammer_contexts_held', CHOSEN)),
              ({ application }) => `${application} in memory`,
            ),
          ],
        },
        {
          title: 'Looked for in the store',
          description: 'Since they were not in memory',
          unit: 'ops',
          lines: [
            line(
              sum(['application'], rate('windjammer_context_reads_total', RANGE, CHOSEN)),
              ({ application }) => application,
            ),
          ],
        },
        {
          title: 'Forgotten',
          unit: 'ops',
          lines: [
            line(
              sum(['application', 'reason'], rate('windjammer_contexts_forgotten_total', RANGE, CHOSEN)),
              ({ application, reason }) => `${application} ${reason}`,
            ),
          ],
        },
      ],
    },
    {
      title: 'Feedback by way of Redis',
      panels: [
        {
          title: 'What became of it',
          unit: 'ops',
          lines: [
            line(
              sum(['application', 'outcome'], rate('windjammer_feedback_outcomes_total', RANGE, CHOSEN)),
              ({ application, outcome }) => `${application} ${outcome}`,
            ),
          ],
        },
        {
          title: 'In the queue',
          unit: 'none',
          lines: [line(most(['state'], value('windjammer_feedback_queue_jobs')), ({ state }) => state)],
        },
        {
          title: 'Wait of the oldest',
          unit: 's',
          lines: [line(most(['job'], value('windjammer_feedback_queue_lag_seconds')), 'oldest')],
        },
        {
          title: 'Kept by frontends until Redis is back',
          unit: 'bytes',
          lines: [
            line(value('windjammer_feedback_spooled_bytes'), ({ instance }) => instance),
            line(value('windjammer_feedback_spool_limit_bytes'), ({ instance }) => `${instance} limit`),
          ],
        },
      ],
    },
  ],
};
