import { matching, mean, most, quantile, rate, sum, value } from '../../../services/metrics/index.js';
import { line, RANGE, variable, type Board } from './board.js';

const CHOSEN = { application: matching('$application') };

export const APPLICATION: Board = {
  name: 'application',
  title: 'Windjammer application',
  description: 'What becomes of the queries of an application',
  variables: [variable('application', 'windjammer_application_objective_seconds')],
  rows: [
    {
      title: 'Queries',
      panels: [
        {
          title: 'Queries',
          unit: 'reqps',
          lines: [
            line(
              sum(['application', 'outcome'], rate('windjammer_queries_total', RANGE, CHOSEN)),
              ({ application, outcome }) => `${application} ${outcome}`,
            ),
          ],
        },
        {
          title: 'Default outputs',
          unit: 'reqps',
          lines: [
            line(
              sum(
                ['application', 'reason'],
                rate('windjammer_queries_total', RANGE, { ...CHOSEN, outcome: 'default' }),
              ),
              ({ application, reason }) => `${application} ${reason}`,
            ),
          ],
        },
        {
          title: 'Errors and rejections',
          unit: 'reqps',
          lines: [
            line(
              sum(['application', 'code'], rate('windjammer_requests_refused_total', RANGE, CHOSEN)),
              ({ application, code }) => `${application} ${code}`,
            ),
          ],
        },
      ],
    },
    {
      title: 'Latency',
      panels: [
        {
          title: 'Latency and objective',
          unit: 's',
          lines: [
            {
              ...line(
                quantile(0.99, ['application'], 'windjammer_query_latency_seconds', RANGE, CHOSEN),
                ({ application }) => `${application} p99`,
              ),
              hasExemplars: true,
            },
            line(
              quantile(0.9, ['application'], 'windjammer_query_latency_seconds', RANGE, CHOSEN),
              ({ application }) => `${application} p90`,
            ),
            line(
              quantile(0.5, ['application'], 'windjammer_query_latency_seconds', RANGE, CHOSEN),
              ({ application }) => `${application} p50`,
            ),
            line(
              most(['application'], value('windjammer_application_objective_seconds', CHOSEN)),
              ({ application }) => `${application} objective`,
            ),
          ],
        },
        {
          title: 'Latency against the objective',
          description: 'In parts of the objective, or of the shorter one that the client asked for',
          unit: 'none',
          limit: 1,
          lines: [
            line(
              quantile(0.99, ['application'], 'windjammer_query_objective_ratio', RANGE, CHOSEN),
              ({ application }) => `${application} p99`,
            ),
            line(
              mean(['application'], 'windjammer_query_objective_ratio', RANGE, CHOSEN),
              ({ application }) => `${application} mean`,
            ),
          ],
        },
        {
          title: 'Predictions that came too late',
          description: 'They fill the cache',
          unit: 'ops',
          lines: [
            line(
              sum(
                ['application', 'model', 'version'],
                rate('windjammer_late_predictions_total', RANGE, CHOSEN),
              ),
              ({ application, model, version }) => `${application}: ${model} ${version}`,
            ),
          ],
        },
      ],
    },
  ],
};
