import { describe, expect, it } from 'vitest';
import { SipHash } from './sipHash.js';

const counted = (length: number) => Uint8Array.from({ length }, (_, at) => at & 255);

/** Of the authors' reference for SipHash-2-4: key 00 01 … 0f, messages of 0, 1, … bytes 00 01 …. */
const REFERENCE = [
  0x726fdb47dd0e0e31n,
  0x74f839c593dc67fdn,
  0x0d6c8009d9a94f5an,
  0x85676696d7fb7e2dn,
  0xcf2794e0277187b7n,
  0x18765564cd99a68dn,
  0xcbc9466e58fee3cen,
  0xab0200f58b01d137n,
  0x93f5f5799a932462n,
  0x9e0082df0ba9e4b0n,
  0x7a5dbbc594ddb9f3n,
  0xf4b32f46226bada7n,
  0x751e8fbc860ee5fbn,
  0x14ea5627c0843d90n,
  0xf723ca908e7af2een,
  0xa129ca6149be45e5n,
  0x3f2acc7f57c29bdbn,
  0x699ae9f52cbe4794n,
  0x4bc1b3f0968dd39cn,
  0xbb6dc91da77961bdn,
  0xbed65cf21aa2ee98n,
  0xd0f2cbb02e3b67c7n,
  0x93536795e3a33e88n,
  0xa80c038ccd5ccec8n,
  0xb8ad50c6f649af94n,
  0xbce192de8a85b8ean,
  0x17d835b85bbb15f3n,
  0x2f2e6163076bcfadn,
  0xde4daaaca71dc9a5n,
  0xa6a2506687956571n,
  0xad87a3535c49ef28n,
  0x32d892fad841c342n,
  0x7127512f72f27ccen,
];

describe('the keyed hash of inputs', () => {
  it('is SipHash, by the vectors of its reference', () => {
    const hash = new SipHash(counted(16), { compression: 2, finalization: 4 });
    expect(REFERENCE.map((_, length) => hash.hash64(counted(length)))).toEqual(REFERENCE);
  });

  it('is SipHash-1-3 in the cache, as CPython 3.11 computes it under PYTHONHASHSEED=0', () => {
    const hash = new SipHash(new Uint8Array(16));
    expect(hash.hash64(Buffer.from('abc'))).toBe(0xc03bc3a0042630f2n);
    expect(hash.hash64(Buffer.from('aaaaaaaa'))).toBe(0xc501b12e18428c92n);
    expect(hash.hash64(Buffer.from('abcdefghijklmno'))).toBe(0x1fd27a29b0e9dc7an);
    expect(hash.hash64(counted(200))).toBe(0x7176378efd9e8a23n);
  });

  it('reads all of a long input, piece by piece', () => {
    const hash = new SipHash(counted(16));
    const long = new Uint8Array(300_001);
    const hashes = new Set([hash.hash(long)]);
    for (const at of [0, 65_535, 65_536, 131_072, 299_999, 300_000]) {
      long[at] ^= 1;
      hashes.add(hash.hash(long));
      long[at] ^= 1;
    }
    for (const length of [65_536, 65_537, 131_072]) hashes.add(hash.hash(long.subarray(0, length)));
    expect(hashes.size).toBe(10);
  });

  it('hashes the same bytes alike at any alignment, and otherwise under another key', () => {
    const hash = new SipHash(counted(16));
    const shifted = new Uint8Array(500);
    for (const length of [0, 1, 7, 8, 31, 32, 33, 100, 403]) {
      for (const offset of [1, 2, 3, 8]) {
        shifted.set(counted(length), offset);
        const view = shifted.subarray(offset, offset + length);
        expect(hash.hash(view)).toBe(hash.hash(counted(length)));
        expect(hash.hash(view)).not.toBe(new SipHash(new Uint8Array(16)).hash(view));
      }
    }
  });

  it('spreads inputs that a stranger chose evenly over buckets', () => {
    const hash = new SipHash(counted(16));
    const buckets = new Uint32Array(1024);
    const input = new Float64Array(3);
    const bytes = new Uint8Array(input.buffer);
    for (let n = 0; n < 100_000; n++) {
      input[0] = n;
      buckets[hash.hash(bytes) & 1023] += 1;
    }
    // Chi squared of 1,023 degrees of freedom: 1,250 is five deviations above what chance gives.
    const expected = 100_000 / 1024;
    const chi = buckets.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    expect(chi).toBeLessThan(1250);
  });

  it('takes no key of another length', () => {
    expect(() => new SipHash(new Uint8Array(15))).toThrow(/16 bytes is needed, 15 came/);
  });
});
