import {
  average,
  firing,
  matching,
  not,
  quantile,
  rate,
  sum,
  value,
} from '../../../services/metrics/index.js';
import { budgetLeft, BUDGET, missedShare } from '../rules/index.js';
import { line, RANGE, type Board } from './board.js';

const HOUR = 3600;

export const OVERVIEW: Board = {
  name: 'overview',
  title: 'Windjammer',
  description: 'Whether applications keep their objectives, and what stands in the way',
  variables: [],
  rows: [
    {
      title: 'Objectives',
      panels: [
        {
          title: 'Queries',
          unit: 'reqps',
          lines: [line(sum(['outcome'], rate('windjammer_queries_total', RANGE)), ({ outcome }) => outcome)],
        },
        {
          title: 'Errors and rejections',
          description: 'With the code of the error; 4xx are the mistakes of clients',
          unit: 'reqps',
          lines: [
            line(
              sum(
                ['application', 'outcome', 'reason'],
                rate('windjammer_queries_total', RANGE, { outcome: matching('error|rejected') }),
              ),
              ({ application, reason }) => `${application} ${reason}`,
            ),
          ],
        },
        {
          title: 'Default outputs by reason',
          description: 'Share of all queries',
          unit: 'percentunit',
          lines: [
            line(
              sum(
                ['application', 'reason'],
                rate('windjammer_queries_total', RANGE, { outcome: 'default' }),
              ).overEach(['application'], sum(['application'], rate('windjammer_queries_total', RANGE))),
              ({ application, reason }) => `${application} ${reason}`,
            ),
          ],
        },
        {
          title: 'Latency against the objective, 99th percentile',
          description: 'In parts of the objective: up to 1 is in time',
          unit: 'none',
          limit: 1,
          lines: [
            line(
              quantile(0.99, ['application'], 'windjammer_query_objective_ratio', RANGE),
              ({ application }) => application,
            ),
          ],
        },
        {
          title: 'Latency',
          unit: 's',
          lines: [
            {
              ...line(
                quantile(0.99, ['application'], 'windjammer_query_latency_seconds', RANGE),
                ({ application }) => `${application} p99`,
              ),
              hasExemplars: true,
            },
            line(
              quantile(0.5, ['application'], 'windjammer_query_latency_seconds', RANGE),
              ({ application }) => `${application} p50`,
            ),
          ],
        },
        {
          title: 'Missed objectives',
          description:
            'Share of the queries that got no prediction in time, over an hour; the line is the budget',
          unit: 'percentunit',
          limit: BUDGET,
          lines: [line(missedShare(HOUR).vector, ({ application }) => application)],
        },
        {
          title: 'Error budget left',
          description: 'Of 30 days; below 0 it is overdrawn',
          unit: 'percentunit',
          isSigned: true,
          lines: [line(budgetLeft().vector, ({ application }) => application)],
        },
        {
          title: 'Alerts that fire',
          unit: 'none',
          lines: [line(firing(), ({ alertname }) => alertname)],
        },
      ],
    },
    {
      title: 'Servers',
      panels: [
        {
          title: 'Queries in flight',
          unit: 'none',
          lines: [line(value('windjammer_queries_in_flight'), ({ instance }) => instance)],
        },
        {
          title: 'Connections',
          unit: 'none',
          lines: [
            line(
              sum(['instance', 'interface'], value('windjammer_connections')),
              (labels) => `${labels.instance} ${labels.interface}`,
            ),
            line(value('windjammer_websockets'), ({ instance }) => `${instance} WebSockets`),
          ],
        },
        {
          title: 'Requests refused',
          description: 'With the code of the error; without an application: it is unknown',
          unit: 'reqps',
          lines: [
            line(
              sum(
                ['application', 'code'],
                rate('windjammer_requests_refused_total', RANGE, { code: not('') }),
              ),
              ({ application, code }) => `${application} ${code}`,
            ),
          ],
        },
        {
          title: 'Processors',
          unit: 'none',
          lines: [line(rate('process_cpu_seconds_total', RANGE), ({ instance }) => instance)],
        },
        {
          title: 'Memory',
          unit: 'bytes',
          lines: [
            line(value('process_resident_memory_bytes'), ({ instance }) => instance),
            line(value('windjammer_buffered_bytes'), ({ instance }) => `${instance} bodies under way`),
          ],
        },
        {
          title: 'Lag of the main thread, 99th percentile',
          unit: 's',
          lines: [line(value('nodejs_eventloop_lag_p99_seconds'), ({ instance }) => instance)],
        },
        {
          title: 'Busy replicas',
          unit: 'percentunit',
          lines: [
            line(
              average(['model', 'version'], rate('windjammer_replica_busy_seconds_total', RANGE)),
              ({ model, version }) => `${model} ${version}`,
            ),
          ],
        },
      ],
    },
  ],
};
