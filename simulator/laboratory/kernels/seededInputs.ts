/** Inputs that are the same everywhere: element `index` is a hash of the index and the seed. */
export function hash(index: number, seed: number): number {
  let u = Math.imul(index + Math.imul(seed, 7919), 0x9e3779b1);
  u ^= u >>> 16;
  u = Math.imul(u, 0x85ebca6b);
  u ^= u >>> 13;
  u = Math.imul(u, 0xc2b2ae35);
  return (u ^ (u >>> 16)) >>> 0;
}

/** Floats of 24 bits in [low, high). */
export function uniform(count: number, seed: number, low = -1, high = 1): Float32Array {
  return Float32Array.from(
    { length: count },
    (_, i) => low + ((hash(i, seed) >>> 8) / 2 ** 24) * (high - low),
  );
}

export function uniformDoubles(count: number, seed: number, low = -1, high = 1): Float64Array {
  return Float64Array.from({ length: count }, (_, i) => {
    const bits53 = (hash(2 * i, seed) >>> 5) * 2 ** 26 + (hash(2 * i + 1, seed) >>> 6);
    return low + (bits53 / 2 ** 53) * (high - low);
  });
}

/** Integers in [low, high). */
export function integers(count: number, seed: number, low: number, high: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => low + (hash(i, seed) % (high - low)));
}

/** Words of 32 random bits. */
export function words(count: number, seed: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, i) => hash(i, seed));
}

/** Words of 64 random bits. */
export function longWords(count: number, seed: number): BigUint64Array {
  return BigUint64Array.from(
    { length: count },
    (_, i) => (BigInt(hash(2 * i, seed)) << 32n) | BigInt(hash(2 * i + 1, seed)),
  );
}

/** Bytes of 8 random bits. */
export function randomBytes(count: number, seed: number): Uint8Array {
  return Uint8Array.from({ length: count }, (_, i) => hash(i, seed) >>> 11);
}

/** The numbers 0 … count - 1 in a random order. */
export function permutation(count: number, seed: number): Int32Array {
  const order = Int32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = hash(i, seed) % (i + 1);
    const kept = order[i] ?? 0;
    order[i] = order[j] ?? 0;
    order[j] = kept;
  }
  return order;
}
