import type { DenialCount } from '../access/index.js';
import type { BudgetCounts, ConnectionCounts } from '../http/index.js';
import { CONNECTION_METRICS } from '../metrics/index.js';
import { familiesOf, labelText, NO_LABELS, type MetricFamily, type ValueWriter } from './metricFamily.js';

/** What is read of the interfaces when somebody scrapes. */
export interface ConnectionSources {
  readonly query: () => ConnectionCounts;
  readonly management: () => ConnectionCounts;
  /** Where containers dial in; undefined: nowhere. */
  readonly containers?: (() => ConnectionCounts) | undefined;
  readonly webSockets: () => number;
  /** Queries without an answer yet. */
  readonly inFlight: () => number;
  /** Memory of the bodies under way. */
  readonly bodies: () => BudgetCounts;
  /** Of an interface with TLS; undefined: it has none. */
  readonly certificateEndMs: (of: 'query' | 'management') => number | undefined;
  /** Empty where keys are not required. */
  readonly denials: () => readonly DenialCount[];
}

/** Who is connected, what is under way, and who was turned away at the door. */
export function connectionFamilies(sources: ConnectionSources): readonly MetricFamily[] {
  const { query, management, containers, webSockets, inFlight, denials, bodies, certificateEndMs } = sources;
  const interfaces = [['query', query] as const, ['management', management] as const];
  const eachInterface = (read: (counts: ConnectionCounts) => number) => (to: ValueWriter<'interface'>) => {
    for (const [name, counts] of interfaces) to.value(labelText({ interface: name }), read(counts()));
    if (containers !== undefined) to.value(labelText({ interface: 'containers' }), read(containers()));
  };
  return familiesOf(CONNECTION_METRICS, {
    windjammer_queries_in_flight: (to) => to.value(NO_LABELS, inFlight()),
    windjammer_websockets: (to) => to.value(NO_LABELS, webSockets()),
    windjammer_connections: eachInterface(({ open }) => open),
    windjammer_connections_refused_total: eachInterface(({ refused }) => refused),
    windjammer_buffered_bytes: (to) => to.value(NO_LABELS, bodies().bytes),
    windjammer_bodies_refused_total: (to) => {
      to.value(labelText({ reason: 'no_room' }), bodies().refused);
      to.value(labelText({ reason: 'stalled' }), bodies().evicted);
    },
    windjammer_certificate_end_timestamp_seconds: (to) => {
      for (const [name] of interfaces) {
        const endMs = certificateEndMs(name);
        if (endMs !== undefined) to.value(labelText({ interface: name }), endMs / 1000);
      }
    },
    windjammer_access_refused_total: (to) => {
      for (const { interface: name, reason, count } of denials()) {
        to.value(labelText({ interface: name, reason }), count);
      }
    },
  });
}
