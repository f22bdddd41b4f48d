import { describe, expect, it } from 'vitest';
import { profileNamed } from '../profiles/index.js';
import { addressOfPart, busySlices, slicePart } from './l2Slices.js';

const { timing } = profileNamed('h200');
const partsOf = (strideBytes: number, words: number): number =>
  new Set(Array.from({ length: words }, (_, word) => slicePart(word * strideBytes))).size;

describe('slices of L2', () => {
  it('take every other 256 bytes of a kilobyte', () => {
    expect(partsOf(32, 8)).toBe(1);
    expect(partsOf(512, 2)).toBe(1);
    expect(partsOf(256, 2)).toBe(2);
    // Measured: 8 words 512 bytes apart take four times as long as 8 that lie a kilobyte apart do twice.
    expect(partsOf(512, 8)).toBe(4);
    expect(partsOf(1024, 8)).toBe(8);
    for (const part of [0, 1, 6, 77]) expect(slicePart(addressOfPart(part))).toBe(part);
  });

  // 528 blocks that add to words so far apart (h200-traffic.csv), against one word: the fullest slice decides.
  it.each([
    [512, 8, 4.1],
    [1024, 8, 7.8],
    [1024, 16, 8.4],
    [2048, 32, 16],
    [1024, 64, 23.4],
    [4096, 128, 27],
    [1024, 256, 49],
  ])('at strides of %i, %i words', (stride, words, measured) => {
    const busy = busySlices({ count: partsOf(stride, words), isDense: false }, timing);
    expect(busy / measured).toBeGreaterThan(0.7);
    expect(busy / measured).toBeLessThan(1.4);
  });

  it('come out more even for what lies side by side', () => {
    const count = partsOf(32, 512);
    expect(busySlices({ count, isDense: true }, timing)).toBeGreaterThan(
      1.2 * busySlices({ count, isDense: false }, timing),
    );
  });
});
