const FIRST_MULTIPLIER = 0xcc9e2d51;
const SECOND_MULTIPLIER = 0x1b873593;

/**
 * A 32-bit murmur3 over the bytes of an input. It only finds the bucket: keys are compared whole, so a collision costs
 * a comparison and never a wrong answer. The seed keeps outsiders from aiming many inputs at one bucket.
 */
export function hashInput(input: Uint8Array, seed: number): number {
  const length = input.length;
  const words = length >> 2;
  let h = seed | 0;
  if (words > 16 && (input.byteOffset & 3) === 0) {
    // A view costs about as much as reading 16 words byte by byte, and makes the rest four times as fast.
    const view = new Int32Array(input.buffer, input.byteOffset, words);
    for (let at = 0; at < words; at++) h = mix(h, view[at]);
  } else {
    for (let at = 0; at < words << 2; at += 4) {
      h = mix(h, input[at] | (input[at + 1] << 8) | (input[at + 2] << 16) | (input[at + 3] << 24));
    }
  }
  let tail = 0;
  for (let at = length - 1; at >= words << 2; at--) tail = (tail << 8) | input[at];
  h ^= scramble(tail);
  return finalize(h ^ length);
}

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

function mix(h: number, word: number): number {
  const mixed = h ^ scramble(word);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function scramble(word: number): number {
  const k = Math.imul(word, FIRST_MULTIPLIER);
  return Math.imul((k << 15) | (k >>> 17), SECOND_MULTIPLIER);
}

function finalize(x: number): number {
  let h = x ^ (x >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}
