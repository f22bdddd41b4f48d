import type { DenialCount } from '../access/index.js';
import type { ConnectionCounts } from '../http/index.js';
import { labelText, type MetricFamily, type SampleWriter } from './metricFamily.js';

/** What is read of the interfaces when somebody scrapes. */
export interface ConnectionSources {
  readonly query: () => ConnectionCounts;
  readonly management: () => ConnectionCounts;
  /** Empty where keys are not required. */
  readonly denials: () => readonly DenialCount[];
}

/** Who is connected, and who was turned away at the door. */
export function connectionFamilies({
  query,
  management,
  denials,
}: ConnectionSources): readonly MetricFamily[] {
  const interfaces = [['query', query] as const, ['management', management] as const];
  const eachInterface = (read: (counts: ConnectionCounts) => number) => (to: SampleWriter) => {
    for (const [name, counts] of interfaces) to.value(labelText({ interface: name }), read(counts()));
  };
  return [
    {
      name: 'windjammer_connections',
      type: 'gauge',
      unit: '',
      labels: ['interface'],
      help: 'Connections that are open, WebSockets among them',
      write: eachInterface(({ open }) => open),
    },
    {
      name: 'windjammer_connections_refused_total',
      type: 'counter',
      unit: '',
      labels: ['interface'],
      help: 'Connections over the limit, told 503 or dropped',
      write: eachInterface(({ refused }) => refused),
    },
    {
      name: 'windjammer_access_refused_total',
      type: 'counter',
      unit: '',
      labels: ['interface', 'reason'],
      help: 'Requests, handshakes and messages turned away for want of a key, by what was wrong',
      write: (to) => {
        for (const { interface: name, reason, count } of denials()) {
          to.value(labelText({ interface: name, reason }), count);
        }
      },
    },
  ];
}
