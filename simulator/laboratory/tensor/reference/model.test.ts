import { describe, expect, it } from 'vitest';
import { tileForms } from '../forms/index.js';
import { floatFormat, floatFormats, type FloatFormat, type TileForm } from '../../../tensor/index.js';
import { fillTile, tileAreas, tileWords } from '../probes/index.js';
import { decodeAll, encodeNarrow } from '../../../tensor/index.js';
import { fusedContext, fusedDot } from '../../../tensor/index.js';
import {
  computeTile,
  decodeNumber,
  doubleChain,
  exactIntegers,
  forHalfResults,
  published,
  type FusedModel,
} from '../../../tensor/index.js';

function formOf(name: string): TileForm {
  const form = tileForms.find((each) => each.name === name);
  if (form === undefined) throw new Error(`no form ${name}`);
  return form;
}

/** An integer times a power of two. */
interface Exact {
  readonly significand: bigint;
  readonly exponent: number;
}

/** A stored float, with the exponent of its significand's first place. */
function exactOf(format: FloatFormat, stored: number): Exact & { readonly place: number } {
  const bits = BigInt(stored >>> format.paddingBits);
  const field = Number((bits >> BigInt(format.fractionBits)) & BigInt(2 ** format.exponentBits - 1));
  const fraction = bits & BigInt(2 ** format.fractionBits - 1);
  const sign = (bits >> BigInt(format.exponentBits + format.fractionBits)) & 1n;
  const significand = fraction + (field === 0 ? 0n : 1n << BigInt(format.fractionBits));
  const place = Math.max(field, 1) - format.bias;
  return {
    significand: sign === 1n ? -significand : significand,
    exponent: place - format.fractionBits,
    place,
  };
}

function shifted(value: bigint, by: number): bigint {
  if (by >= 0) return value << BigInt(by);
  // Towards nought, as integers of JavaScript do not shift.
  return value < 0n ? -(-value >> BigInt(-by)) : value >> BigInt(-by);
}

/** significand · 2^exponent cut to a format towards nought, as a number; f32 and f16 hold it exactly. */
function cutTo(format: FloatFormat, { significand, exponent }: Exact): number {
  if (significand === 0n) return 0;
  const length = (significand < 0n ? -significand : significand).toString(2).length;
  const quantum = Math.max(exponent + length - 1, 1 - format.bias) - format.fractionBits;
  const cut = Number(shifted(significand, exponent - quantum)) * 2 ** quantum;
  return Math.abs(cut) >= 2 ** (format.bias + 1) ? Math.sign(cut) * Infinity : cut;
}

/** The fused sum by integers of any length: blocks of neighbours, accumulator in every block, cut terms, cut results. */
function exactFused(
  a: FloatFormat,
  b: FloatFormat,
  left: readonly number[],
  right: readonly number[],
  c: number,
  length: number,
  bits: number,
): number {
  let sum = exactOf(floatFormats.f32, c);
  let value = 0;
  for (let first = 0; first < left.length; first += length) {
    const products = left.slice(first, first + length).map((stored, index) => {
      const x = exactOf(a, stored);
      const y = exactOf(b, right[first + index] ?? 0);
      return {
        significand: x.significand * y.significand,
        exponent: x.exponent + y.exponent,
        place: x.place + y.place,
      };
    });
    const terms = [...products, sum].filter(({ significand }) => significand !== 0n);
    const most = Math.max(...terms.map(({ place }) => place));
    const quantum = most - bits;
    const total = terms.reduce(
      (all, { significand, exponent }) => all + shifted(significand, exponent - quantum),
      0n,
    );
    value = terms.length === 0 ? 0 : cutTo(floatFormats.f32, { significand: total, exponent: quantum });
    if (!Number.isFinite(value)) return value;
    sum = exactOf(floatFormats.f32, new Uint32Array(Float32Array.of(value).buffer)[0] ?? 0);
  }
  return value;
}

describe('fused sums', () => {
  it.each([
    ['mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32', 16, 25],
    ['mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32', 4, 23],
    ['mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32', 8, 24],
    ['mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32', 4, 27],
    ['mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32', 32, 13],
  ] as const)(
    '%s in blocks of %i with %i bits are those of exact integers',
    (name, blockLength, fractionBits) => {
      const form = formOf(name);
      const [a, b] = [floatFormat(form.a.type), floatFormat(form.b.type)];
      if (a === undefined || b === undefined) throw new Error('no floats');
      const model: FusedModel = { ...published.h100, blockLength, fractionBits };
      const areas = tileAreas(form);
      const { k, n } = form.shape;
      let finite = 0;
      for (const tile of [0, 33, 65, 97, 130, 193, 225, 257, 289, 321]) {
        const words = fillTile(areas, 7, tile, tileWords(form).input);
        const bits = elements(form, words);
        const d = new Uint32Array(computeTile({ form, model }, words));
        for (let unit = 0; unit < form.d.units; unit += 3) {
          const element = form.d.map[unit] ?? 0;
          const [row, column] = [Math.floor(element / n), element % n];
          const left = Array.from({ length: k }, (_, at) => bits.a[row * k + at] ?? 0);
          const right = Array.from({ length: k }, (_, at) => bits.b[at * n + column] ?? 0);
          const c = bits.c[element] ?? 0;
          const expected = exactFused(a, b, left, right, c, blockLength, fractionBits);
          expect(new Float32Array(d.buffer)[unit]).toBe(expected);
          finite += Number.isFinite(expected) ? 1 : 0;
        }
      }
      expect(finite).toBeGreaterThan(300);
    },
  );

  function elements(form: TileForm, words: Uint32Array): Record<'a' | 'b' | 'c', number[]> {
    let offset = 0;
    const found: Record<'a' | 'b' | 'c', number[]> = { a: [], b: [], c: [] };
    for (const role of ['a', 'b', 'c'] as const) {
      const { map, slots, units, unitBits } = form[role];
      const bits = unitBits / slots;
      map.forEach((element, at) => {
        const word = words[offset + Math.floor(at / slots)] ?? 0;
        found[role][element] = bits === 32 ? word : (word >>> ((at % slots) * bits)) & (2 ** bits - 1);
      });
      offset += units;
    }
    return found;
  }
});

/** One dot product of f16 with an accumulator of f32. */
function dot(model: FusedModel, products: readonly (readonly [number, number])[], c: number): number {
  const count = 16;
  const bits = (side: 0 | 1): Uint32Array =>
    Uint32Array.from({ length: count }, (_, at) => encodeNarrow('f16', products[at]?.[side] ?? 0));
  const operands = {
    a: decodeAll('f16', bits(0)),
    b: decodeAll('f16', bits(1)),
    c: decodeAll('f32', new Uint32Array(Float32Array.of(c).buffer)),
  };
  const order = Int32Array.from({ length: count }, (_, at) => at);
  const result = fusedDot(operands, fusedContext(model, count, 'f32', 'f32'), 0, order, 0);
  return decodeNumber('f32', result);
}

describe('what is published', () => {
  const tiny = (exponent: number, count: number): (readonly [number, number])[] =>
    Array.from({ length: count }, () => [2 ** -12, 2 ** (exponent + 12)] as const);

  it('of a V100: four halves of a last place are lost one by one (Fasi et al. 2021, section 3.3)', () => {
    expect(dot(published.v100, tiny(-24, 4), 1)).toBe(1);
    expect(dot(published.v100, tiny(-23, 1), 1)).toBe(1 + 2 ** -23);
  });

  it('of an A100: one bit more is kept (Fasi et al. 2021; Li et al. 2024)', () => {
    expect(dot(published.a100, tiny(-24, 4), 1)).toBe(1 + 2 ** -22);
    expect(dot(published.a100, tiny(-25, 8), 1)).toBe(1);
  });

  it('of an H100: two bits more, sixteen terms at once (Li et al. 2024; Khattak and Mikaitis 2025)', () => {
    expect(dot(published.h100, tiny(-25, 8), 1)).toBe(1 + 2 ** -22);
    expect(dot(published.h100, tiny(-26, 16), 1)).toBe(1);
    // The large pair swallows what stands between, wherever it stands in the block.
    const pair = [[2 ** 15, 2 ** 15] as const, ...tiny(-2, 14), [-(2 ** 15), 2 ** 15] as const];
    expect(dot(published.h100, pair, 0)).toBe(0);
    expect(dot(published.a100, pair, 0)).toBe(0);
    expect(dot(published.a100, [[2 ** 15, 2 ** 15], [-(2 ** 15), 2 ** 15], ...tiny(-2, 14)], 0)).toBe(2);
  });

  it('of all: results of f32 are cut, the alignment is that of unnormalised products', () => {
    expect(
      dot(
        published.h100,
        [
          [1, 2 ** -24],
          [1, 2 ** -25],
        ],
        1,
      ),
    ).toBe(1);
    expect(
      dot(
        published.h100,
        [
          [1, -(2 ** -24)],
          [1, -(2 ** -25)],
        ],
        -1,
      ),
    ).toBe(-1);
    // 1.5 · 1.5 is 2.25 with the exponent 0: 2^-25 beside it stays.
    const kept = [
      [1.5, 1.5],
      [-1.5, 1.5],
      [2 ** -12, 2 ** -13],
    ] as const;
    expect(dot(published.h100, kept, 0)).toBe(2 ** -25);
    expect(dot({ ...published.h100, alignment: 'normalised' }, kept, 0)).toBe(0);
  });

  it('of infinities and NaN', () => {
    expect(dot(published.h100, [[Infinity, 1]], 1)).toBe(Infinity);
    expect(dot(published.h100, [[Infinity, 0]], 1)).toBeNaN();
    expect(
      dot(
        published.h100,
        [
          [Infinity, 1],
          [-Infinity, 1],
        ],
        1,
      ),
    ).toBeNaN();
    expect(dot(published.h100, [[60000, 60000]], 3.4e38)).toBe(Math.fround(3.4e38));
  });
});

describe('other types', () => {
  it('f64: a chain of fused multiply-adds, rounded as the form says', () => {
    for (const rounding of ['', '.rz', '.rm', '.rp']) {
      const form = formOf(`mma.sync.aligned.m8n8k4.row.col${rounding}.f64.f64.f64.f64`);
      const words = new Uint32Array(tileWords(form).input);
      const doubles = new Float64Array(words.buffer);
      // Row 0 of A is in lanes 0 to 3, column 0 of B too, element 0 of C in lane 0.
      doubles.set([1, 2 ** -54, 0, 0], 0);
      doubles.set([1, -1, 0, 0], 32);
      const result = new Float64Array(computeTile({ form, model: doubleChain }, words).buffer)[0];
      expect(result).toBe(rounding === '.rz' || rounding === '.rm' ? 1 - 2 ** -53 : 1);
    }
  });

  it('integers wrap, or are clamped where the form says so', () => {
    for (const [modifier, expected] of [
      ['', -0x80000000 + 32 * 127 * 127 - 1],
      ['.satfinite', 0x7fffffff],
    ] as const) {
      const form = formOf(`mma.sync.aligned.m16n8k32.row.col${modifier}.s32.s8.s8.s32`);
      const words = new Uint32Array(tileWords(form).input).fill(0x7f7f7f7f);
      words.fill(0x7fffffff, 192);
      expect((computeTile({ form, model: exactIntegers }, words)[0] ?? 0) | 0).toBe(expected);
    }
  });

  it('bits are counted', () => {
    const form = formOf('mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc');
    const words = new Uint32Array(tileWords(form).input).fill(0xffffffff, 0, 128);
    words.fill(0x0f0f0f0f, 128, 192);
    words.fill(3, 192);
    expect(computeTile({ form, model: exactIntegers }, words)[0]).toBe(131);
  });

  it('results of f16 are rounded to nearest', () => {
    const form = formOf('mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16');
    const words = new Uint32Array(tileWords(form).input);
    const [one, halfPlace, more] = [1, 2 ** -11, 2 ** -20].map((value) => encodeNarrow('f16', value));
    words[0] = (one ?? 0) | ((halfPlace ?? 0) << 16);
    words[1] = more ?? 0;
    words.fill((one ?? 0) | ((one ?? 0) << 16), 64, 96);
    expect((computeTile({ form, model: forHalfResults(published.h100) }, words)[0] ?? 0) & 0xffff).toBe(
      (one ?? 0) + 1,
    );
  });
});
