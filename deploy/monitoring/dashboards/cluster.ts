import { fewest, most, rate, sum, until, value } from '../../../services/metrics/index.js';
import { line, RANGE, type Board } from './board.js';

const ofNode = ({ node }: { readonly node: string }): string => node;

export const CLUSTER: Board = {
  name: 'cluster',
  title: 'Windjammer cluster',
  description: 'Frontends and nodes, the store that they share, queues and batch jobs',
  variables: [],
  rows: [
    {
      title: 'Members',
      panels: [
        {
          title: 'Frontends and nodes',
          unit: 'none',
          lines: [
            line(
              most(['kind', 'state'], value('windjammer_cluster_members')),
              ({ kind, state }) => `${kind} ${state}`,
            ),
          ],
        },
        {
          title: 'Since the last word of a node',
          unit: 's',
          lines: [line(fewest(['node'], value('windjammer_node_last_word_seconds')), ofNode)],
        },
        {
          title: 'Since the last word of a frontend',
          unit: 's',
          lines: [
            line(
              fewest(['frontend'], value('windjammer_frontend_last_word_seconds')),
              ({ frontend }) => frontend,
            ),
          ],
        },
        {
          title: 'Connections to nodes',
          description: '1 or 0, for each frontend and node',
          unit: 'none',
          lines: [line(value('windjammer_node_connected'), ({ instance, node }) => `${instance} to ${node}`)],
        },
        {
          title: 'Round trip to nodes',
          unit: 's',
          lines: [line(most(['node'], value('windjammer_node_round_trip_seconds')), ofNode)],
        },
        {
          title: 'Replicas of nodes',
          unit: 'none',
          lines: [
            line(most(['node'], value('windjammer_node_replicas_placed')), ({ node }) => `${node} placed`),
            line(most(['node'], value('windjammer_gpu_node_replicas')), ({ node }) => `${node} running`),
          ],
        },
        {
          title: 'Nodes that are drained, or lost',
          unit: 'none',
          lines: [
            line(most(['node'], value('windjammer_node_cordoned')), ({ node }) => `${node} drained`),
            line(fewest(['node'], value('windjammer_node_alive')).from(1), ({ node }) => `${node} lost`),
          ],
        },
        {
          title: 'Frontend that places replicas',
          unit: 'none',
          lines: [line(most(['frontend'], value('windjammer_frontend_places')), ({ frontend }) => frontend)],
        },
      ],
    },
    {
      title: 'Store',
      panels: [
        {
          title: 'Store that keeps nothing',
          description: '1 where changes and feedback are not kept, by cause',
          unit: 'none',
          limit: 1,
          lines: [
            line(
              sum(['instance', 'cause'], value('windjammer_store_failing')),
              ({ instance, cause }) => `${instance} ${cause}`,
            ),
          ],
        },
        {
          title: 'Behind the shared store',
          unit: 's',
          lines: [line(value('windjammer_store_lag_seconds'), ({ instance }) => instance)],
        },
        {
          title: 'Writes to the shared store under way, and loads of all of it',
          unit: 'none',
          lines: [
            line(value('windjammer_store_writes_in_flight'), ({ instance }) => `${instance} writes`),
            line(rate('windjammer_store_loads_total', RANGE), ({ instance }) => `${instance} loads a second`),
          ],
        },
        {
          title: 'Room for the data directory',
          unit: 'bytes',
          lines: [
            line(value('windjammer_data_directory_free_bytes'), ({ instance }) => `${instance} free`),
            line(value('windjammer_data_directory_size_bytes'), ({ instance }) => `${instance} size`),
          ],
        },
      ],
    },
    {
      title: 'Queues',
      panels: [
        {
          title: 'Feedback in the queue',
          unit: 'none',
          lines: [line(most(['state'], value('windjammer_feedback_queue_jobs')), ({ state }) => state)],
        },
        {
          title: 'Wait of the oldest feedback',
          unit: 's',
          lines: [line(most(['job'], value('windjammer_feedback_queue_lag_seconds')), 'oldest')],
        },
        {
          title: 'Feedback that frontends keep',
          unit: 'none',
          lines: [line(value('windjammer_feedback_spooled'), ({ instance }) => instance)],
        },
      ],
    },
    {
      title: 'Batch jobs',
      panels: [
        {
          title: 'Jobs',
          unit: 'none',
          lines: [line(most(['state'], value('windjammer_jobs')), ({ state }) => state)],
        },
        {
          title: 'Lines without an answer',
          unit: 'none',
          lines: [line(most(['job'], value('windjammer_job_lines_pending')), 'pending')],
        },
        {
          title: 'Lines',
          unit: 'ops',
          lines: [
            line(sum(['outcome'], rate('windjammer_job_lines_total', RANGE)), ({ outcome }) => outcome),
          ],
        },
        {
          title: 'Longest time without results',
          unit: 's',
          lines: [line(most(['job'], value('windjammer_job_lag_seconds')), 'longest')],
        },
      ],
    },
    {
      title: 'Access',
      panels: [
        {
          title: 'Turned away for want of a key',
          unit: 'reqps',
          lines: [
            line(
              sum(['interface', 'reason'], rate('windjammer_access_refused_total', RANGE)),
              (labels) => `${labels.interface} ${labels.reason}`,
            ),
          ],
        },
        {
          title: 'Turned away for want of room',
          unit: 'reqps',
          lines: [
            line(
              sum(['interface'], rate('windjammer_connections_refused_total', RANGE)),
              (labels) => `${labels.interface} connections`,
            ),
            line(
              sum(['reason'], rate('windjammer_bodies_refused_total', RANGE)),
              ({ reason }) => `bodies, ${reason}`,
            ),
          ],
        },
        {
          title: 'Until certificates end',
          description: 'Below 0: they have ended',
          unit: 's',
          isSigned: true,
          lines: [
            line(
              until(value('windjammer_certificate_end_timestamp_seconds')),
              (labels) => `${labels.instance} ${labels.interface}`,
            ),
          ],
        },
      ],
    },
  ],
};
