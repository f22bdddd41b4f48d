import type { IncomingMessage, ServerResponse } from 'node:http';
import { Denial, type Gate } from '../access/index.js';

/** Answered to anybody: probes have no key, and the document says how to show one. `/ws` without a handshake only refuses. */
const OPEN_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/openapi.json', '/ws']);

/** What a load balancer or an orchestrator asks, which has to be told the truth also by a server that is full. */
export function isProbe({ url = '' }: IncomingMessage): boolean {
  return url === '/healthz' || url === '/readyz' || url.startsWith('/v2/health/');
}

/**
 * Why a request that is neither predict nor update may not go on; undefined: it may. Metrics, the dashboard and whatever
 * else there is need the scope `metrics`. An answer that lasts ends with its key.
 */
export function coldDenial(
  gate: Gate,
  request: IncomingMessage,
  response: ServerResponse,
): Denial | undefined {
  const [path] = (request.url ?? '/').split('?', 1);
  // Jobs ask for a key by themselves: what it may depends on the job.
  if (OPEN_PATHS.has(path) || path === '/jobs' || path.startsWith('/jobs/')) return undefined;
  // A person at a browser is asked by its own dialogue, and it shows the key with every further request.
  const isPage = path === '/' || path.startsWith('/dashboard/');
  const key = gate.admit(request, 'metrics', isPage ? 'basic' : 'bearer');
  if (key instanceof Denial) return key;
  const release = key.hold(() => response.destroy());
  response.once('close', release);
  return undefined;
}
