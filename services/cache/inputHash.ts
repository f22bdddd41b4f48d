/** Folds a small integer, such as a model's number, into a hash. */
export function hashWith(hash: number, value: number): number {
  return finalize(hash ^ Math.imul(value + 1, 0x9e3779b1));
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a === b) return true;
  const length = a.length;
  if (length !== b.length) return false;
  // The native comparison costs a call of some 60 ns and then runs at memory speed.
  if (length > 128) return Buffer.compare(a, b) === 0;
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** As murmur3 ends: no two numbers become one. */
function finalize(x: number): number {
  let h = x ^ (x >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}
