import { Counter, Gauge, type Registry } from 'prom-client';
import type { DenialCount } from '../access/index.js';
import type { ConnectionCounts } from '../http/index.js';

/** What is read of the interfaces when somebody scrapes. */
export interface ConnectionSources {
  readonly query: () => ConnectionCounts;
  readonly management: () => ConnectionCounts;
  /** Empty where keys are not required. */
  readonly denials: () => readonly DenialCount[];
}

/** Who is connected, and who was turned away at the door. */
export function addConnectionMetrics(
  registry: Registry,
  { query, management, denials }: ConnectionSources,
): void {
  const registers = [registry];
  const interfaces = [['query', query] as const, ['management', management] as const];
  new Gauge({
    name: 'windjammer_connections',
    help: 'Connections that are open, WebSockets among them',
    labelNames: ['interface'],
    registers,
    collect() {
      for (const [name, counts] of interfaces) this.set({ interface: name }, counts().open);
    },
  });
  new Counter({
    name: 'windjammer_connections_refused_total',
    help: 'Connections over the limit, told 503 or dropped',
    labelNames: ['interface'],
    registers,
    collect() {
      this.reset();
      for (const [name, counts] of interfaces) this.inc({ interface: name }, counts().refused);
    },
  });
  new Counter({
    name: 'windjammer_access_refused_total',
    help: 'Requests, handshakes and messages turned away for want of a key, by what was wrong',
    labelNames: ['interface', 'reason'],
    registers,
    collect() {
      this.reset();
      for (const { interface: name, reason, count } of denials())
        this.inc({ interface: name, reason }, count);
    },
  });
}
