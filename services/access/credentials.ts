import type { IncomingMessage } from 'node:http';

/** What a request shows of a key: its text, or why there is none. */
export type Shown =
  { readonly key: string } | { readonly key: undefined; readonly problem: 'missing' | 'scheme' | 'several' };

const MISSING: Shown = { key: undefined, problem: 'missing' };
const SEVERAL: Shown = { key: undefined, problem: 'several' };
const OTHER_SCHEME: Shown = { key: undefined, problem: 'scheme' };

/** Of the WebSocket interface; a browser offers it beside the key, since it can send no header. */
export const WEB_SOCKET_PROTOCOL = 'windjammer';
const KEY_PROTOCOL = /^wj_/;

const AUTHORIZATION = 'authorization';

/**
 * The key that a request shows in `Authorization` or `x-api-key`. Two of them are refused: a proxy might have checked
 * the other one.
 */
export function shownKey({ headers, rawHeaders }: IncomingMessage): Shown {
  const { authorization, 'x-api-key': apiKey } = headers;
  if (authorization === undefined) {
    if (apiKey === undefined) return MISSING;
    // Node joins several of them with a comma, which no key has.
    return { key: typeof apiKey === 'string' ? apiKey : '' };
  }
  if (apiKey !== undefined || isRepeated(rawHeaders)) return SEVERAL;
  return ofAuthorization(authorization);
}

/** As above; and for browsers, the key among the subprotocols that a handshake offers. */
export function shownWebSocketKey(request: IncomingMessage): Shown {
  const shown = shownKey(request);
  const offered = offeredProtocols(request).filter((protocol) => KEY_PROTOCOL.test(protocol));
  if (offered.length === 0) return shown;
  if (offered.length > 1 || shown !== MISSING) return SEVERAL;
  return { key: offered[0] };
}

/** The subprotocol that a handshake is answered with: ours, or the first that is no key. */
export function chosenProtocol(offered: ReadonlySet<string>): string | false {
  if (offered.has(WEB_SOCKET_PROTOCOL)) return WEB_SOCKET_PROTOCOL;
  for (const protocol of offered) if (!KEY_PROTOCOL.test(protocol)) return protocol;
  return false;
}

function offeredProtocols({ headers }: IncomingMessage): string[] {
  return headers['sec-websocket-protocol']?.split(',').map((protocol) => protocol.trim()) ?? [];
}

/** Node keeps the first of several Authorization headers and says nothing of the others. */
function isRepeated(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) count += 1;
  }
  return count > 1;
}

function ofAuthorization(value: string): Shown {
  const space = value.indexOf(' ');
  const scheme = (space < 0 ? value : value.slice(0, space)).toLowerCase();
  const rest = space < 0 ? '' : value.slice(space).trimStart();
  if (scheme === 'bearer') return { key: rest };
  // What a browser asks its user for: any name, and the key as the password.
  if (scheme === 'basic') {
    const decoded = Buffer.from(rest, 'base64').toString('latin1');
    return { key: decoded.slice(decoded.indexOf(':') + 1) };
  }
  return OTHER_SCHEME;
}
