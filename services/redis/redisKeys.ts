import { RedisError } from './redisError.js';

export const DEFAULT_PREFIX = 'windjammer';

/** Behind the prefix: what a key is for, and more. */
const OWN_FORM = /^:[a-z-]+(:|$)/;

/** Whether a key has the form of those that Windjammer makes. @param prefix as of `keyPrefix` */
export function isOwnKey(prefix: string, key: string): boolean {
  return key.startsWith(prefix) && OWN_FORM.test(key.slice(prefix.length));
}

/** What several installations on one Redis are told apart by. */
const PREFIX_FORM = /^[A-Za-z0-9_.-]{1,64}$/;

/**
 * Begin of every key: in braces, so that a Redis Cluster keeps all keys of an installation in one slot, and one script
 * can write several of them.
 * @throws RedisError `invalidAddress` naming what a prefix is
 */
export function keyPrefix(prefix: string): string {
  if (!PREFIX_FORM.test(prefix)) {
    throw new RedisError(
      'invalidAddress',
      `a prefix is 1 to 64 letters, digits, '_', '.' or '-', not '${prefix.slice(0, 80)}'`,
    );
  }
  return `{${prefix}}`;
}
