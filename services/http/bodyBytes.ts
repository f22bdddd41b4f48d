import type { IncomingMessage } from 'node:http';
import type { ServiceError } from '../errors/index.js';
import { overBudget, stalled, type BodyBudget } from './bodyBudget.js';
import { GrowingBody } from './growingBody.js';
import { openBody, type BodyErrorReceiver, type BodyLimits, type OpenBody } from './openBody.js';

export interface BytesReceiver extends BodyErrorReceiver {
  /**
   * The whole body, decoded; of no bytes when there is none. Called once, or `onBodyError` is.
   * @param release must be called once the bytes are not needed any more: until then they count
   */
  onBytes(body: Buffer, release: () => void): void;
}

/** Reads a request's body, whatever its Content-Type. A client that leaves before the end is told nothing. */
export function readBytes(request: IncomingMessage, limits: BodyLimits, receiver: BytesReceiver): void {
  openBody(request, limits, {
    onWhole: (body) => receiver.onBytes(body, holdsNothing),
    onPieces: (open) => collect(open, limits.budget, receiver),
    onBodyError: (error) => receiver.onBodyError(error),
  });
}

const holdsNothing = () => undefined;

function collect(open: OpenBody, budget: BodyBudget, receiver: BytesReceiver): void {
  const body = new GrowingBody(budget, open.length, () => refuse(stalled()));
  const refuse = (error: ServiceError) => {
    body.release();
    source.refuse();
    receiver.onBodyError(error);
  };
  const source = open.start({
    onChunk: (chunk) => {
      if (!body.add(chunk)) refuse(overBudget());
    },
    onEnd: () => {
      body.complete();
      receiver.onBytes(body.take() ?? NO_BYTES, () => body.release());
    },
    onSourceError: (error) => {
      body.release();
      receiver.onBodyError(error);
    },
    onGone: () => body.release(),
  });
}

const NO_BYTES = Buffer.alloc(0);
