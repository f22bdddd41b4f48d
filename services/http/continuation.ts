import type { IncomingMessage, ServerResponse } from 'node:http';

/** Of requests whose client waits for 100 (Continue) before it sends the body: what lets it go on. */
const waiting = new WeakMap<IncomingMessage, () => void>();

/**
 * Holds the 100 back until somebody wants the body. An answer without it ends the connection: whether the body still
 * comes is up to the client, and the next bytes could be either.
 */
export function holdContinue(
  request: IncomingMessage,
  response: ServerResponse,
  isClosing: () => boolean,
): void {
  const keepAlive = response.shouldKeepAlive;
  response.shouldKeepAlive = false;
  waiting.set(request, () => {
    response.shouldKeepAlive = keepAlive && !isClosing();
    response.writeContinue();
  });
}

/** Must be called before a body is read; does nothing for a client that sends it unasked. */
export function wantBody(request: IncomingMessage): void {
  if (request.headers.expect === undefined) return;
  waiting.get(request)?.();
  waiting.delete(request);
}
