import { hash, randomBytes } from 'node:crypto';

const ID_BYTES = 8;
const SECRET_BYTES = 32;

/** `wj_`, then what names the key, then what proves it: found by scanners for leaked secrets, and by eye. */
const KEY_TEXT = /^wj_([0-9a-f]{16})_[0-9a-f]{64}$/;

/** A new key: 64 random bits of name, 256 of secret. */
export function newKeyText(): string {
  return `wj_${randomBytes(ID_BYTES).toString('hex')}_${randomBytes(SECRET_BYTES).toString('hex')}`;
}

/** The id in a key's text; undefined when it is none. */
export function keyId(text: string): string | undefined {
  return KEY_TEXT.exec(text)?.[1];
}

/**
 * What is kept of a key. SHA-256, not a slow hash for passwords: those make up for secrets that people can remember, of
 * which an attacker tries many; of 256 random bits none is found by trying, and a slow hash would cost every request.
 */
export function keyHash(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
