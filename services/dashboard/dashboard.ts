import { Router, type Request, type Response } from 'express';
import { sendError } from '../http/index.js';
import type { DashboardSources } from './frameSource.js';
import { LiveFeed } from './liveFeed.js';
import { pageAssets, type PageAsset, type PageName } from './pageAssets.js';
import { SECURITY_HEADERS } from './securityHeaders.js';

const FEED = '/dashboard/feed';

/** How long a browser waits before it comes back to a feed that ended. */
const RETRY_MS = 2000;

/** The page at `/`, its files below `/dashboard/`, and its live feed. Everything else is left to the next handler. */
export class Dashboard {
  readonly router = Router({ caseSensitive: true, strict: true });
  private readonly feed: LiveFeed;

  /** @throws Error when the page's modules are not compiled. */
  constructor(sources: DashboardSources) {
    this.feed = new LiveFeed(sources);
    addPage(this.router, 'index');
    this.router.get(FEED, (request, response) => this.onFeed(request, response));
    this.router.all(FEED, refuseMethod);
  }

  /** Ends the feeds, which a drain would otherwise wait for. */
  close(): void {
    this.feed.close();
  }

  private onFeed(request: Request, response: Response): void {
    if (!this.feed.open) {
      sendError(response, 'feed_unavailable', 'the server is draining, or too many clients watch already');
      return;
    }
    response.writeHead(200, [
      'content-type',
      'text/event-stream; charset=utf-8',
      'cache-control',
      'no-store',
      // Proxies of the nginx kind would hold frames back.
      'x-accel-buffering',
      'no',
      ...SECURITY_HEADERS,
    ]);
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    response.write(`retry: ${RETRY_MS}\n\n`);
    this.feed.add(response);
  }
}

/** The page at `/` of the management interface: it calls that interface's verbs. */
export function managementPage(): Router {
  const router = Router({ caseSensitive: true, strict: true });
  addPage(router, 'management');
  return router;
}

function addPage(router: Router, page: PageName): void {
  for (const [path, asset] of pageAssets(page)) {
    router.get(path, (request, response) => sendAsset(request, response, asset));
    router.all(path, refuseMethod);
  }
}

/** Files are named by their content's tag: a browser asks each time, and gets them once. */
function sendAsset(request: Request, response: Response, { contentType, plain, gzipped }: PageAsset): void {
  const isGzipped = request.acceptsEncodings('gzip') !== false;
  const { bytes, tag } = isGzipped ? gzipped : plain;
  const headers = ['etag', tag, 'cache-control', 'no-cache', 'vary', 'accept-encoding', ...SECURITY_HEADERS];
  if (request.headers['if-none-match'] === tag) {
    response.writeHead(304, headers);
    response.end();
    return;
  }
  const encoding = isGzipped ? ['content-encoding', 'gzip'] : [];
  const length = String(bytes.length);
  response.writeHead(200, ['content-type', contentType, 'content-length', length, ...encoding, ...headers]);
  response.end(bytes);
}

function refuseMethod(request: Request, response: Response): void {
  const message = `${request.method} is not allowed here, use GET`;
  sendError(response, 'method_not_allowed', message, undefined, ['allow', 'GET, HEAD']);
}
