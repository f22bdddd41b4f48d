import { createHash } from 'node:crypto';

/** A short digest of a value that JSON can hold, sets, maps and bytes besides. */
export function digestOf(value: unknown): string {
  const hash = createHash('sha256');
  hash.update(value instanceof Uint8Array ? value : (JSON.stringify(value, replacement) ?? 'undefined'));
  return hash.digest('hex').slice(0, 12);
}

function replacement(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Set || value instanceof Map) return [...value];
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value;
    return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
  }
  return value;
}

/** The digest of what a function returns, or of the error's message that it throws. */
export function digestOfCall(call: () => unknown): string {
  try {
    return digestOf(call());
  } catch (error) {
    return `!${digestOf(error instanceof Error ? error.message : error)}`;
  }
}
