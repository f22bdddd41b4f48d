import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { atomicSectors, RequestShaper, sharedAtomicCycles, type RequestShape } from './index.js';

const ALL = -1;

function shape(
  address: (lane: number) => number,
  bytes = 4,
  mask = ALL,
  kind: 'load' | 'store' = 'load',
): RequestShape {
  const addresses = Float64Array.from({ length: 32 }, (_, lane) => address(lane));
  return new RequestShaper().take(kind, bytes, mask, addresses);
}

describe('request shapes', () => {
  // Measured on the card, cycles a request: strides of 1, 4, 16, 32, 33 and 784 words take 1, 4, 16, 32, 8 and 16.
  it.each([
    [1, 1, 1, 4],
    [2, 2, 2, 8],
    [4, 4, 4, 16],
    [16, 16, 16, 32],
    [32, 32, 32, 32],
    [33, 1, 32, 32],
    [784, 16, 32, 32],
  ])('stride of %i words: %i wavefronts on %i lines, %i sectors', (stride, wavefronts, lines, sectors) => {
    expect(shape((lane) => 2 ** 46 + lane * stride * 4)).toMatchObject({ wavefronts, lines, sectors });
  });

  it('serves a broadcast once, and sectors that an access straddles both', () => {
    expect(shape(() => 4096)).toMatchObject({ wavefronts: 1, lines: 1, sectors: 1 });
    expect(shape((lane) => 4096 + lane * 4 + 16)).toMatchObject({ lines: 2, sectors: 5 });
  });

  it('does not ask in which order the lanes stand', () => {
    const strides = [0, 1, 2, 4, 8, 12, 16, 32, 36, 100, 128, 132, 3136];
    for (const bytes of [1, 2, 4, 8, 16]) {
      for (const stride of strides) {
        for (const mask of [ALL, 1, 0x80000000 | 0, 0x00ff00f0, 0x55555555]) {
          const at = (lane: number): number => 2 ** 46 + 96 + Math.floor((lane * stride) / bytes) * bytes;
          // Mirrored within each part, so that the same lanes go together.
          const lanes = bytes <= 4 ? 32 : bytes === 8 ? 16 : 8;
          const mirror = (lane: number): number => (lane ^ (lanes - 1)) & 31;
          const mirrored = Array.from({ length: 32 }, (_, lane) => (mask >>> mirror(lane)) & 1);
          const other = mirrored.reduce((all, bit, lane) => all | (bit << lane), 0);
          const { wavefronts, parts, sectors, lines } = shape(at, bytes, mask, 'store');
          const same = shape((lane) => at(mirror(lane)), bytes, other, 'store');
          expect(same, `${bytes} ${stride} ${mask}`).toMatchObject({ wavefronts, parts, sectors, lines });
        }
      }
    }
  });

  it('serves 8 bytes a lane in halves and 16 in quarters, each with its own conflicts', () => {
    expect(shape((lane) => lane * 8, 8)).toMatchObject({ wavefronts: 2, parts: 2, lines: 2, sectors: 8 });
    expect(shape((lane) => lane * 16, 16)).toMatchObject({
      wavefronts: 4,
      parts: 4,
      lines: 4,
      sectors: 16,
    });
    // 16 lanes of one half on two banks, 128 bytes apart: 16 words each.
    expect(shape((lane) => lane * 128, 8)).toMatchObject({ wavefronts: 32, parts: 2 });
    // Only the first quarter is there.
    expect(shape((lane) => lane * 16, 16, 0xff)).toMatchObject({ wavefronts: 1, parts: 1, sectors: 4 });
    // Eight rows of 128 bytes: the lanes of each quarter are on the same four banks.
    expect(shape((lane) => (lane % 8) * 128, 16)).toMatchObject({ wavefronts: 32, parts: 4 });
  });

  it('joins parts of wide loads whose neighbours ask for the same, and never of stores', () => {
    expect(shape(() => 64, 8)).toMatchObject({ wavefronts: 1, parts: 1 });
    expect(shape(() => 64, 16)).toMatchObject({ wavefronts: 2, parts: 2 });
    expect(shape(() => 64, 8, ALL, 'store')).toMatchObject({ wavefronts: 2, parts: 2 });
    expect(shape(() => 64, 16, ALL, 'store')).toMatchObject({ wavefronts: 4, parts: 4 });
    expect(shape((lane) => Math.floor(lane / 2) * 8, 8)).toMatchObject({ wavefronts: 1, parts: 1 });
  });

  it('leaves out inactive lanes', () => {
    expect(shape((lane) => lane * 128, 4, 0b101)).toMatchObject({ wavefronts: 2, lines: 2, sectors: 2 });
    expect(shape((lane) => lane, 4, 0)).toMatchObject({ wavefronts: 0, parts: 0, lines: 0, sectors: 0 });
  });

  it('starts anew with each request', () => {
    const shaper = new RequestShaper();
    shaper.take(
      'load',
      4,
      ALL,
      Float64Array.from({ length: 32 }, (_, lane) => lane * 128),
    );
    expect(shaper.take('load', 4, ALL, new Float64Array(32))).toMatchObject({
      wavefronts: 1,
      lines: 1,
      sectors: 1,
    });
  });
});

it('shared atomics wait for every lane on their bank, on one word too', () => {
  const cycles = (address: (lane: number) => number, mask = ALL): number =>
    sharedAtomicCycles(
      mask,
      Float64Array.from({ length: 32 }, (_, lane) => address(lane)),
    );
  expect(cycles((lane) => lane * 4)).toBe(1);
  expect(cycles(() => 64)).toBe(32);
  expect(cycles((lane) => (lane % 4) * 4)).toBe(8);
  expect(cycles(() => 64, 0b11)).toBe(2);
});

it('sends atomics on one address one after another, each time with the sectors that go together', () => {
  const sectors = (address: (lane: number) => number, mask = ALL): number =>
    atomicSectors(
      mask,
      Float64Array.from({ length: 32 }, (_, lane) => address(lane)),
    );
  expect(sectors((lane) => lane * 4)).toBe(4);
  expect(sectors(() => 64)).toBe(32);
  // Two lanes on each of 16 addresses of two sectors.
  expect(sectors((lane) => (lane % 16) * 4)).toBe(4);
  // One address of four in a sector is hot: the others go with its first.
  expect(sectors((lane) => (lane < 29 ? 0 : (lane - 28) * 4))).toBe(29);
  expect(sectors((lane) => lane * 4, 0)).toBe(0);
});

/** What a card's counters said of requests to shared memory of one warp. */
interface CardWavefronts {
  readonly card: string;
  readonly requests: readonly {
    readonly access: 'load' | 'store' | 'atomic';
    readonly bytes: number;
    readonly pattern: string;
    /** Offset of each lane; -1 for an inactive one. */
    readonly offsets: readonly number[];
    readonly wavefronts: number;
    readonly conflicts: number;
  }[];
}

describe('shared memory of a card', () => {
  const { requests } = JSON.parse(
    readFileSync(new URL('../../laboratory/counters/cardWavefronts.json', import.meta.url), 'utf8'),
  ) as CardWavefronts;

  it('was measured for loads, stores and atomics', () => {
    expect(requests.length).toBeGreaterThan(200);
    expect(new Set(requests.map(({ access, bytes }) => `${access} ${bytes}`)).size).toBe(7);
  });

  it('takes the wavefronts that we count, and has our conflicts', () => {
    const shaper = new RequestShaper();
    const differing = requests.filter(({ access, bytes, offsets, wavefronts, conflicts }) => {
      let mask = 0;
      offsets.forEach((offset, lane) => (mask |= offset < 0 ? 0 : 1 << lane));
      const addresses = Float64Array.from(offsets);
      if (access === 'atomic') {
        const cycles = sharedAtomicCycles(mask, addresses);
        return cycles !== wavefronts || cycles - 1 !== conflicts;
      }
      const found = shaper.take(access, bytes, mask, addresses);
      return found.wavefronts !== wavefronts || found.wavefronts - found.parts !== conflicts;
    });
    expect(differing).toEqual([]);
  });
});
