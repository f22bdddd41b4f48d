import type { ErrorCode } from '../errors/index.js';
import type { Scope, TargetKind } from './scopes.js';

/** Why requests are turned away, as metrics and the log name it. */
export const DENIAL_REASONS = [
  'missing',
  'malformed',
  'unknown',
  'wrong_secret',
  'expired',
  'scope',
  'limit',
] as const;
export type DenialReason = (typeof DENIAL_REASONS)[number];

/** An answer to a request that may not go on. It never shows what came as a key. */
export class Denial {
  constructor(
    readonly reason: DenialReason,
    readonly code: ErrorCode,
    readonly message: string,
    readonly field: string | undefined,
    /** Names and values in turn. */
    readonly headers: readonly string[],
  ) {}
}

/** How a client is asked for its key: programs by Bearer, a person at a browser by its dialogue. */
export type Challenge = 'bearer' | 'basic';

const CHALLENGES: Readonly<Record<Challenge, string>> = {
  bearer: 'Bearer realm="windjammer"',
  basic: 'Basic realm="windjammer: any name, a key as the password", charset="UTF-8"',
};

const HOW = 'send Authorization: Bearer KEY, or x-api-key: KEY';

export function missingKey(challenge: Challenge, what: 'missing' | 'scheme'): Denial {
  const came =
    what === 'missing' ? 'no key came' : 'Authorization has a scheme that is neither Bearer nor Basic';
  return unauthenticated('missing', 'key_required', `${came}; ${HOW}`, challenge);
}

export function severalKeys(challenge: Challenge): Denial {
  const message = 'a key came in more than one place; send it once';
  return unauthenticated('malformed', 'invalid_key', message, challenge, 'invalid_request');
}

export function malformedKey(challenge: Challenge): Denial {
  const message = 'what came is no key: one is wj_, 16 digits, _, 64 digits, all of 0-9 a-f';
  return unauthenticated('malformed', 'invalid_key', message, challenge, 'invalid_token');
}

/** The same answer for an id that nobody has and for a wrong secret: nothing tells which ids there are. */
export function wrongKey(reason: 'unknown' | 'wrong_secret', challenge: Challenge): Denial {
  const message = 'this key is not known here, or was removed';
  return unauthenticated(reason, 'invalid_key', message, challenge, 'invalid_token');
}

export function expiredKey(challenge: Challenge): Denial {
  return unauthenticated('expired', 'key_expired', 'this key has expired', challenge, 'invalid_token');
}

export function missingScope(scope: Scope): Denial {
  const challenge = `${CHALLENGES.bearer}, error="insufficient_scope", scope="${scope}"`;
  const message = `this key does not have the scope ${scope}`;
  return new Denial('scope', 'missing_scope', message, undefined, ['www-authenticate', challenge]);
}

export function outsideLimit(kind: TargetKind): Denial {
  const message = `this key is limited to other ${kind}s, or to none`;
  return new Denial('limit', 'outside_key', message, kind, []);
}

function unauthenticated(
  reason: DenialReason,
  code: ErrorCode,
  message: string,
  challenge: Challenge,
  error?: 'invalid_request' | 'invalid_token',
): Denial {
  const base = CHALLENGES[challenge];
  const value = error === undefined || challenge === 'basic' ? base : `${base}, error="${error}"`;
  return new Denial(reason, code, message, undefined, ['www-authenticate', value]);
}
