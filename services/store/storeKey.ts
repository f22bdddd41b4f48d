import { StoreError } from './storeError.js';

/** LMDB takes keys of 1,978 bytes; a log's key adds its sequence number. */
const MAX_KEY_BYTES = 1900;

/**
 * A key of hierarchical parts: each percent-encoded, so that no part can hold the separator, joined by '/'.
 * @throws StoreError when a part is empty or no well-formed Unicode, or the key is longer than any store takes.
 */
export function storeKey(...parts: readonly string[]): string {
  for (const part of parts) {
    if (part === '') throw new StoreError('invalidKey', 'a part of a store key is empty');
  }
  const key = parts.map(encodePart).join('/');
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) {
    throw new StoreError(
      'invalidKey',
      `a store key has at most ${MAX_KEY_BYTES} bytes: ${key.slice(0, 60)}...`,
    );
  }
  return key;
}

/** The parts that `storeKey` joined. */
export function storeKeyParts(key: string): string[] {
  return key.split('/').map(decodeURIComponent);
}

function encodePart(part: string): string {
  try {
    return encodeURIComponent(part);
  } catch (cause) {
    throw new StoreError('invalidKey', 'a part of a store key has half of a surrogate pair', { cause });
  }
}
