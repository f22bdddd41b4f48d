import type { DenialCount } from '../access/index.js';
import type { BudgetCounts, ConnectionCounts } from '../http/index.js';
import { labelText, type MetricFamily, type SampleWriter } from './metricFamily.js';

/** What is read of the interfaces when somebody scrapes. */
export interface ConnectionSources {
  readonly query: () => ConnectionCounts;
  readonly management: () => ConnectionCounts;
  /** Memory of the bodies under way. */
  readonly bodies: () => BudgetCounts;
  /** Empty where keys are not required. */
  readonly denials: () => readonly DenialCount[];
}

/** Who is connected, and who was turned away at the door. */
export function connectionFamilies({
  query,
  management,
  denials,
  bodies,
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
      name: 'windjammer_buffered_bytes',
      type: 'gauge',
      unit: 'bytes',
      labels: [],
      help: 'Memory of bodies and messages under way, of all interfaces',
      write: (to) => to.value('', bodies().bytes),
    },
    {
      name: 'windjammer_bodies_refused_total',
      type: 'counter',
      unit: '',
      labels: ['reason'],
      help: 'Bodies and messages not taken for want of memory: no room, or stalled while others needed it',
      write: (to) => {
        to.value(labelText({ reason: 'no_room' }), bodies().refused);
        to.value(labelText({ reason: 'stalled' }), bodies().evicted);
      },
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
