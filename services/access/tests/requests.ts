import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

/** A request as Node parses it, of names and values in turn. */
export function requestWith(...rawHeaders: readonly string[]): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.rawHeaders = [...rawHeaders];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at].toLowerCase();
    const before = request.headers[name];
    // Of Authorization the first counts; of others Node makes a list.
    if (before === undefined) request.headers[name] = rawHeaders[at + 1];
    else if (name !== 'authorization') request.headers[name] = `${String(before)}, ${rawHeaders[at + 1]}`;
  }
  return request;
}
