import {
  average,
  matching,
  mean,
  most,
  quantile,
  rate,
  sum,
  value,
} from '../../../services/metrics/index.js';
import { line, RANGE, variable, type Board } from './board.js';

const CHOSEN = { model: matching('$model'), version: matching('$version') };
const VERSION = ['model', 'version'] as const;
const REPLICA = [...VERSION, 'replica'] as const;

interface Version {
  readonly model: string;
  readonly version: string;
}

const ofVersion = ({ model, version }: Version): string => `${model} ${version}`;
const ofReplica = (labels: Version & { readonly replica: string }): string =>
  `${ofVersion(labels)} replica ${labels.replica}`;

export const MODEL: Board = {
  name: 'model',
  title: 'Windjammer model and replicas',
  description: 'What replicas of a model do, and what waits for them',
  variables: [
    variable('model', 'windjammer_replicas_wanted'),
    variable('version', 'windjammer_replicas_wanted'),
  ],
  rows: [
    {
      title: 'Replicas',
      panels: [
        {
          title: 'Replicas',
          unit: 'none',
          lines: [
            line(
              sum([...VERSION, 'state'], value('windjammer_replicas', CHOSEN)),
              (labels) => `${ofVersion(labels)} ${labels.state}`,
            ),
            line(
              sum(VERSION, value('windjammer_replicas_wanted', CHOSEN)),
              (labels) => `${ofVersion(labels)} wanted`,
            ),
          ],
        },
        {
          title: 'Starts after the first, and losses',
          unit: 'ops',
          lines: [
            line(
              sum(VERSION, rate('windjammer_replica_restarts_total', RANGE, CHOSEN)),
              (labels) => `${ofVersion(labels)} started again`,
            ),
            line(
              sum(VERSION, rate('windjammer_replica_losses_total', RANGE, CHOSEN)),
              (labels) => `${ofVersion(labels)} lost with work in hand`,
            ),
            line(
              sum(VERSION, rate('windjammer_protocol_errors_total', RANGE, CHOSEN)),
              (labels) => `${ofVersion(labels)} broke the protocol`,
            ),
          ],
        },
        {
          title: 'Busy',
          description: 'Share of the time with a batch in flight: near 1 it needs another replica',
          unit: 'percentunit',
          lines: [
            line(average(REPLICA, rate('windjammer_replica_busy_seconds_total', RANGE, CHOSEN)), ofReplica),
          ],
        },
      ],
    },
    {
      title: 'Queue',
      panels: [
        {
          title: 'Inputs that wait',
          unit: 'none',
          lines: [line(sum(REPLICA, value('windjammer_queue_depth', CHOSEN)), ofReplica)],
        },
        {
          title: 'Inputs and batches that replicas work on',
          unit: 'none',
          lines: [
            line(
              sum(REPLICA, value('windjammer_in_flight_inputs', CHOSEN)),
              (labels) => `${ofReplica(labels)} inputs`,
            ),
            line(
              sum(REPLICA, value('windjammer_in_flight_batches', CHOSEN)),
              (labels) => `${ofReplica(labels)} batches`,
            ),
            line(
              sum(REPLICA, value('windjammer_replica_credits', CHOSEN)),
              (labels) => `${ofReplica(labels)} further batches`,
            ),
          ],
        },
        {
          title: 'Longest wait in a batch',
          unit: 's',
          lines: [
            line(
              quantile(0.99, VERSION, 'windjammer_batch_queue_seconds', RANGE, CHOSEN),
              (labels) => `${ofVersion(labels)} p99`,
            ),
            line(
              quantile(0.5, VERSION, 'windjammer_batch_queue_seconds', RANGE, CHOSEN),
              (labels) => `${ofVersion(labels)} p50`,
            ),
          ],
        },
      ],
    },
    {
      title: 'Batches',
      panels: [
        {
          title: 'Inputs',
          unit: 'ops',
          lines: [
            line(
              sum([...VERSION, 'outcome'], rate('windjammer_predictions_total', RANGE, CHOSEN)),
              (labels) => `${ofVersion(labels)} ${labels.outcome}`,
            ),
            line(
              sum(VERSION, rate('windjammer_requeued_inputs_total', RANGE, CHOSEN)),
              (labels) => `${ofVersion(labels)} queued again`,
            ),
          ],
        },
        {
          title: 'Inputs in a batch',
          unit: 'none',
          lines: [
            line(mean(VERSION, 'windjammer_batch_size', RANGE, CHOSEN), ofVersion),
            line(
              most(VERSION, value('windjammer_batch_limit', CHOSEN)),
              (labels) => `${ofVersion(labels)} limit`,
            ),
          ],
        },
        {
          title: 'Time of a batch',
          description: 'In its container, which is simulated time on a GPU; and as the frontend sees it',
          unit: 's',
          lines: [
            line(
              quantile(0.5, VERSION, 'windjammer_batch_service_seconds', RANGE, CHOSEN),
              (labels) => `${ofVersion(labels)} container p50`,
            ),
            line(
              quantile(0.5, VERSION, 'windjammer_batch_round_trip_seconds', RANGE, CHOSEN),
              (labels) => `${ofVersion(labels)} round trip p50`,
            ),
            line(
              quantile(0.99, VERSION, 'windjammer_batch_round_trip_seconds', RANGE, CHOSEN),
              (labels) => `${ofVersion(labels)} round trip p99`,
            ),
          ],
        },
      ],
    },
    {
      title: 'Cache',
      panels: [
        {
          title: 'Lookups',
          unit: 'ops',
          lines: [
            line(
              sum([...VERSION, 'result'], rate('windjammer_cache_lookups_total', RANGE, CHOSEN)),
              (labels) => `${ofVersion(labels)} ${labels.result}`,
            ),
          ],
        },
        {
          title: 'What became of misses',
          unit: 'ops',
          lines: [
            line(
              sum([...VERSION, 'outcome'], rate('windjammer_evaluations_total', RANGE, CHOSEN)),
              (labels) => `${ofVersion(labels)} ${labels.outcome}`,
            ),
          ],
        },
        {
          title: 'Memory of the cache',
          unit: 'bytes',
          lines: [
            line(value('windjammer_cache_bytes'), ({ instance }) => instance),
            line(value('windjammer_cache_limit_bytes'), ({ instance }) => `${instance} limit`),
          ],
        },
      ],
    },
  ],
};
