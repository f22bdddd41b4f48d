import type { ErrorCode } from '../errors/index.js';

/** How a key is shown, as OpenAPI describes it. */
export const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key: Authorization: Bearer KEY' },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same key' },
} as const;

const NO_KEY: readonly ErrorCode[] = ['key_required', 'invalid_key', 'key_expired', 'missing_scope'];

/** @param scope what the key must be allowed; undefined: anybody may ask */
export function securityOf(scope: string | undefined): readonly Record<string, readonly string[]>[] {
  return scope === undefined ? [] : [{ bearer: [scope] }, { apiKey: [scope] }];
}

/** What a route with this scope answers for want of a key. */
export function accessErrors(scope: string | undefined): readonly ErrorCode[] {
  if (scope === undefined) return [];
  // Keys with the other scopes cannot be limited.
  return scope === 'predict' || scope === 'feedback' ? [...NO_KEY, 'outside_key'] : NO_KEY;
}
