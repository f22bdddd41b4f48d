import { createHash, type Hash } from 'node:crypto';

/**
 * Hash of plain data: objects by sorted keys, maps and sets in their own order, typed arrays by content. Keys in
 * `ignored` are left out wherever they stand: what depends on the host and not on the simulation.
 */
export function stateHash(value: unknown, ignored: ReadonlySet<string>): string {
  const hash = createHash('sha256');
  feed(hash, value, ignored);
  return hash.digest('hex');
}

function feed(hash: Hash, value: unknown, ignored: ReadonlySet<string>): void {
  if (value === null || typeof value !== 'object') {
    hash.update(`${typeof value}:${String(value)};`);
  } else if (ArrayBuffer.isView(value)) {
    hash.update(`bytes:${value.byteLength};`);
    hash.update(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  } else if (value instanceof Map) {
    hash.update(`map:${value.size};`);
    for (const [key, item] of value) {
      feed(hash, key, ignored);
      feed(hash, item, ignored);
    }
  } else if (value instanceof Set) {
    hash.update(`set:${value.size};`);
    for (const item of value) feed(hash, item, ignored);
  } else if (Array.isArray(value)) {
    hash.update(`list:${value.length};`);
    for (const item of value) feed(hash, item, ignored);
  } else {
    for (const [key, item] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (ignored.has(key) || item === undefined) continue;
      hash.update(`${key}=`);
      feed(hash, item, ignored);
    }
    hash.update('end;');
  }
}
