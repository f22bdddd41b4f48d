import autocannon from 'autocannon';
import type { LoadPlan } from './loadPlan.js';
import type { LoadTraffic } from './loadTraffic.js';
import { headersOf, outcomeOf, type HttpForm, type LoadQuery } from './senders/index.js';
import { wallNs } from './wallClock.js';

export interface CannonLoopOptions {
  readonly plan: LoadPlan;
  readonly form: HttpForm;
  readonly traffic: LoadTraffic;
  readonly seconds: number;
  /** Numbers of queries are `part`, `part + parts`, … */
  readonly part: number;
  readonly parts: number;
  readonly signal: AbortSignal;
}

/** What a connection of autocannon has under way. */
interface Connection {
  query?: LoadQuery;
  sentNs?: number;
}

/** How often autocannon looks whether its time is over. */
const SAMPLE_MS = 100;

/** A closed loop on autocannon's connections, each of which carries one query at a time. */
export async function cannonLoop(options: CannonLoopOptions): Promise<void> {
  const { plan, form, traffic, seconds, part, parts, signal } = options;
  const { origin, pathname } = new URL(plan.url);
  const base = pathname.replace(/\/$/, '');
  let number = part - parts;
  const open = new Set<Connection>();
  await new Promise<void>((resolve, reject) => {
    const cannon = autocannon(
      {
        url: origin,
        connections: plan.connections,
        duration: seconds,
        timeout: Math.max(1, plan.timeoutMs / 1000),
        sampleInt: SAMPLE_MS,
        requests: [
          {
            method: 'POST',
            setupRequest: (request, context) => {
              const connection = context as Connection;
              number += parts;
              const query = traffic.queryOf({ atNs: 0, where: `query ${number}` }, number);
              connection.query = query;
              connection.sentNs = wallNs();
              open.add(connection);
              traffic.onSent(query, connection.sentNs);
              return {
                ...request,
                path: base + form.path(query),
                headers: headersOf(plan.connection),
                body: form.body(query),
              };
            },
            onResponse: (status, body, context) => {
              const connection = context as Connection;
              open.delete(connection);
              const { query, sentNs } = connection;
              if (query !== undefined && sentNs !== undefined)
                traffic.onOutcome(query, sentNs, outcomeOf(form, status, body));
            },
          },
        ],
      },
      (error) => {
        signal.removeEventListener('abort', stop);
        // What it had under way when its time was over nobody will know of.
        for (const { query } of open) if (query !== undefined) traffic.onCut(query);
        if (error === null || error === undefined) resolve();
        else reject(error as Error);
      },
    );
    const stop = (): void => cannon.stop();
    signal.addEventListener('abort', stop, { once: true });
    cannon.on('reqError', (error: Error) => failOldest('unreachable', error.message));
    if (signal.aborted) stop();
  });

  /** autocannon does not say which connection has failed: the one that waits longest stands for it. */
  function failOldest(code: 'unreachable' | 'timeout', message: string): void {
    for (const connection of open) {
      const { query, sentNs } = connection;
      open.delete(connection);
      if (query !== undefined && sentNs !== undefined)
        traffic.onOutcome(query, sentNs, { kind: 'failed', code, message });
      return;
    }
  }
}
