import {
  type ElementType,
  type TileForm,
  chunkOf,
  columnInChunk,
  elementBits,
  encodeNarrow,
  floatFormat,
  wordsOf,
} from '../../../tensor/index.js';
import { ProbeWriter, type DotProbe, type ProbeValue } from './dotProbe.js';
import { fillTile } from './generator.js';
import { tileAreas } from './inputArea.js';
import { tileWords } from './kernelText.js';

/** The same metadata for every chunk: the first ones of each. */
const plainMetadata = 0x44444444;

/** How often `indexTiles` looks at every element of a sparse A, each time with other metadata: of six values a chunk, or of two. */
const indexSweeps = { twoOfFour: 8, oneOfTwo: 24 } as const;

/** Tiles that are made to decide parameters, and of sparse forms first those that tell which metadata is whose. */
export function craftedTiles(form: TileForm, seed: number): readonly Uint32Array[] {
  const index = form.sparse === undefined ? [] : indexTiles(form, seed);
  return [...index, ...(floatFormat(form.a.type) === undefined ? [] : probeTiles(form, dotProbes(form)))];
}

/** Number of tiles at the front of {@link craftedTiles} that are for `deriveMetadata`. */
export function indexTileCount(form: TileForm): number {
  return form.sparse === undefined ? 0 : indexSweeps[form.sparse.indices] * form.a.columns;
}

/**
 * Tile t has in row i of A a one at the element (i + t) mod k/2 and noughts else, in row κ of B the binary digits of κ, and random
 * metadata: the digits of a row of D are the column that the metadata gives that element.
 */
function indexTiles(form: TileForm, seed: number): Uint32Array[] {
  const kept = form.a.columns;
  const areas = tileAreas(form);
  const words = tileWords(form).input;
  const digits = Array.from(
    { length: form.b.rows * form.b.columns },
    (_, at) => (Math.floor(at / form.b.columns) >> (at % form.b.columns)) & 1,
  );
  return Array.from({ length: indexTileCount(form) }, (_, tile) => {
    const ones = Array.from({ length: form.a.rows * kept }, (_, at) =>
      at % kept === (Math.floor(at / kept) + tile) % kept ? 1 : 0,
    );
    const noughts = Array.from({ length: form.c.rows * form.c.columns }, () => 0);
    const metadata = fillTile(areas, seed, Math.floor(tile / kept), words).subarray(words - 32);
    return tileOf(form, ones, digits, noughts, metadata);
  });
}

/** Probes on the diagonals of tiles: each has a row of A, a column of B and an element of C of its own. */
export function probeTiles(form: TileForm, probes: readonly DotProbe[]): Uint32Array[] {
  const { batches, rows: m, columns: n } = form.d;
  const each = Math.min(m, n);
  const perTile = each * batches;
  const kept = form.a.columns;
  const tiles: Uint32Array[] = [];
  for (let first = 0; first < probes.length; first += perTile) {
    const a: ProbeValue[] = Array.from({ length: batches * m * kept }, () => 0);
    const b: ProbeValue[] = Array.from({ length: batches * form.b.rows * n }, () => 0);
    const c: ProbeValue[] = Array.from({ length: batches * m * n }, () => 0);
    for (const [index, probe] of probes.slice(first, first + perTile).entries()) {
      const [batch, place] = [Math.floor(index / each), index % each];
      for (let at = 0; at < kept; at++) {
        a[(batch * m + place) * kept + at] = probe.a[at] ?? 0;
        b[(batch * form.b.rows + denseColumn(form, at)) * n + place] = probe.b[at] ?? 0;
      }
      c[(batch * m + place) * n + place] = probe.c;
    }
    tiles.push(tileOf(form, a, b, c, new Uint32Array(32).fill(plainMetadata)));
  }
  return tiles;
}

/** Row of B that an element of A meets under {@link plainMetadata}. */
function denseColumn(form: TileForm, element: number): number {
  if (form.sparse === undefined) return element;
  const { width, kept } = chunkOf(form);
  return Math.floor(element / kept) * width + columnInChunk(form, plainMetadata & 15, element % kept);
}

function tileOf(
  form: TileForm,
  a: readonly ProbeValue[],
  b: readonly ProbeValue[],
  c: readonly ProbeValue[],
  metadata: Uint32Array,
): Uint32Array {
  const words = [a, b, c].flatMap((values, index) => {
    const operand = [form.a, form.b, form.c][index] ?? form.a;
    const stored = values.map((value) => storedBits(operand.type, value));
    return [
      ...wordsOf(operand, {
        bits: Uint32Array.from(stored, (bits) => Number(BigInt.asUintN(32, bits))),
        wide: BigUint64Array.from(stored),
      }),
    ];
  });
  return Uint32Array.from(form.sparse === undefined ? words : [...words, ...metadata]);
}

const double = new Float64Array(1);
const doubleBits = new BigUint64Array(double.buffer);

function storedBits(type: ElementType, value: ProbeValue): bigint {
  if (typeof value !== 'number') return value.bits;
  if (type === 'f64') {
    double[0] = value;
    return doubleBits[0] ?? 0n;
  }
  if (floatFormat(type) === undefined) return BigInt.asUintN(elementBits(type), BigInt(value));
  return BigInt(encodeNarrow(type as 'f16', value));
}

/** Every probe of a form of floats. */
export function dotProbes(form: TileForm): readonly DotProbe[] {
  const writer = new ProbeWriter(form);
  orders(writer);
  keptBits(writer);
  alignments(writer);
  roundings(writer);
  noughts(writer);
  subnormals(writer);
  overflows(writer);
  specials(writer);
  carries(writer);
  return writer.probes;
}

/** M at one place, -M at another, small terms everywhere else: what is added with either, or between them, is lost. */
function orders(writer: ProbeWriter): void {
  const { count, big, unit } = writer;
  const all = Array.from({ length: count }, (_, at) => at);
  const firsts = count <= 16 ? all : [0, 1, 2, 3, 4, 8, 16, count - 1];
  for (const first of firsts) {
    for (const second of all) {
      if (second === first || (count <= 16 && second < first)) continue;
      const units = all.filter((at) => at !== first && at !== second).map((at) => [at, unit, 1] as const);
      writer.powers('order', [[first, big, 1], [second, big, -1], ...units]);
    }
  }
  for (const place of all) {
    const units = all.filter((at) => at !== place).map((at) => [at, unit, 1] as const);
    writer.powers('accumulator', [[place, big, 1], ...units], -(2 ** big));
  }
}

/** A large term, a small one so many places below it, and the large one taken away. */
function keptBits(writer: ProbeWriter): void {
  const { count, big } = writer;
  const last = count - 1;
  for (let below = 8; below <= 44; below++) {
    const small = big - below;
    if (!writer.isProduct(small)) break;
    for (const sign of [1, -1] as const) {
      if (count > 2) {
        writer.powers('bits', [
          [0, big, 1],
          [1, small, sign],
          [2, big, -1],
        ]);
        writer.powers('bits', [
          [last, big, 1],
          [0, small, sign],
          [last - 1, big, -1],
        ]);
      }
      writer.powers(
        'bits of a product beside the accumulator',
        [
          [0, small, sign],
          [1, big, -1],
        ],
        2 ** big,
      );
      if (writer.isAccumulator(small))
        writer.powers(
          'bits of the accumulator',
          [
            [0, big, 1],
            [1, big, -1],
          ],
          sign * 2 ** small,
        );
    }
    const rest = Array.from({ length: Math.max(count - 2, 1) }, (_, at) => [at + 1, small, 1] as const);
    if (count > 2) writer.powers('cut term by term', [[0, big, 1], ...rest, [last, big, -1]]);
    writer.powers('cut term by term', rest, 2 ** Math.min(big, 0));
  }
}

/** Products of significands above the square root of two: their exponent is the sum, or one more. */
function alignments(writer: ProbeWriter): void {
  if (writer.count < 3) return;
  for (let below = 16; below <= 40; below++) {
    if (!writer.isProduct(-below)) break;
    const right = Math.ceil(-below / 2);
    writer.factors('alignment', [
      [0, 1.5, 1.5],
      [1, -1.5, 1.5],
      [2, 2 ** (-below - right), 2 ** right],
    ]);
    writer.factors(
      'alignment',
      [
        [0, 1.5, 1.5],
        [1, 2 ** (-below - right), 2 ** right],
      ],
      -2.25,
    );
  }
}

/** One, and what lies below its last place. */
function roundings(writer: ProbeWriter): void {
  const { count, resultBits } = writer;
  const places = [resultBits, resultBits + 1, resultBits + 2, resultBits + 3];
  for (const sign of [1, -1] as const) {
    for (const first of places) {
      for (const second of [undefined, ...places, resultBits + 4]) {
        const terms = [first, ...(second === undefined ? [] : [second])];
        if (!terms.every((place) => writer.isProduct(-place)) || count < 3) continue;
        writer.powers('rounding', [
          [0, 0, sign],
          ...terms.map((place, at) => [at + 1, -place, sign] as const),
        ]);
        writer.powers(
          'rounding',
          terms.map((place, at) => [at, -place, sign] as const),
          sign * (1 + 2 ** -resultBits),
        );
        writer.powers(
          'rounding',
          terms.map((place, at) => [at, -place, -sign as 1 | -1] as const),
          sign,
        );
      }
    }
  }
}

function noughts(writer: ProbeWriter): void {
  const { count, a, b } = writer;
  const all = Array.from({ length: count }, (_, at) => at);
  for (const c of [0, -0]) {
    for (const [left, right] of [
      [0, 1],
      [-0, 1],
      [0, -1],
      [-0, 0],
      [-0, -0],
    ] as const) {
      writer.factors(
        'sign of nought',
        all.map((at) => [at, left, right] as const),
        c,
      );
      writer.factors(
        'sign of nought',
        all.slice(1).map((at) => [at, left, right] as const),
        c,
      );
    }
    writer.powers(
      'sign of nought',
      [
        [0, 0, 1],
        [1, 0, -1],
      ],
      c,
    );
  }
  writer.powers('sign of nought', [[0, 0, 1]], -1);
  writer.powers('sign of nought', [[0, 0, -1]], 1);
  // A nought times the largest power: does its exponent count?
  for (let below = 16; below <= 44; below++) {
    const small = a.lowest + b.highest - below;
    if (!writer.isProduct(small)) break;
    const right = Math.max(b.lowest, Math.min(b.highest, Math.ceil(small / 2)));
    if (small - right < a.smallest) break;
    writer.factors('noughts in the largest exponent', [
      [0, 0, 2 ** b.highest],
      [1, 2 ** (small - right), 2 ** right],
    ]);
  }
}

function subnormals(writer: ProbeWriter): void {
  const { a, b, c, form } = writer;
  for (const left of [2 ** a.smallest, 2 ** a.lowest - 2 ** a.smallest, -(2 ** (a.lowest - 1))]) {
    for (const right of [1, 1.5, 2 ** b.highest, 2 ** b.lowest])
      writer.factors('subnormal operands', [[0, left, right]]);
    writer.factors(
      'subnormal operands',
      [
        [0, 2 ** Math.min(a.highest, 10), 2 ** b.smallest],
        [1, left, 1],
      ],
      1,
    );
  }
  // A subnormal of one bit has the exponent of the smallest normal number: what stands below it is cut by that.
  for (let below = 16; below <= 40; below++) {
    const small = a.lowest + b.highest - below;
    const right = Math.max(b.lowest, Math.min(b.highest, Math.ceil(small / 2)));
    if (small - right < a.smallest || small - right > a.highest) break;
    writer.factors('subnormal operands', [
      [0, 2 ** a.smallest, 2 ** b.highest],
      [1, 2 ** (small - right), 2 ** right],
    ]);
  }
  for (const exponent of [c.smallest, c.smallest + 1, c.lowest - 1, c.lowest]) {
    for (const sign of [1, -1]) {
      writer.powers('subnormal accumulators', [], sign * 2 ** exponent);
      if (writer.isProduct(exponent - 1))
        writer.powers('subnormal results', [[0, exponent - 1, sign as 1 | -1]], sign * 2 ** exponent);
    }
  }
  const result = floatFormat(form.d.type);
  const lowest = result === undefined ? c.lowest : 1 - result.bias;
  for (let exponent = lowest - (result?.fractionBits ?? 23) - 2; exponent <= lowest; exponent++) {
    if (!writer.isProduct(exponent) || writer.count < 2) continue;
    writer.powers('subnormal results', [[0, exponent, 1]]);
    writer.powers('subnormal results', [
      [0, exponent, -1],
      [1, Math.min(exponent + 1, lowest), -1],
    ]);
  }
}

function overflows(writer: ProbeWriter): void {
  const { a, b, c, count, form } = writer;
  const highest = a.highest + b.highest;
  const largest =
    form.c.type === 'f16' ? 65504 : form.c.type === 'f32' ? 3.4028234663852886e38 : Number.MAX_VALUE;
  for (const sign of [1, -1] as const) {
    for (let below = 0; below <= 30; below += below < 6 ? 1 : 4) {
      const exponent = c.highest - below - (form.c.type === 'f16' ? 0 : 12);
      if (writer.isProduct(exponent)) {
        writer.powers('overflow', [[0, exponent, sign]], sign * largest);
        writer.powers(
          'overflow',
          [
            [0, exponent, sign],
            [1, exponent, -sign as 1 | -1],
          ],
          sign * largest,
        );
      }
    }
    const all = Array.from({ length: count }, (_, at) => [at, highest, sign] as const);
    writer.powers('overflow', all.slice(0, 1));
    writer.powers('overflow', all.slice(0, 2));
    writer.powers('overflow', all);
    writer.powers(
      'overflow',
      [
        [0, highest, sign],
        [1, highest, -sign as 1 | -1],
      ],
      sign,
    );
    writer.powers('overflow', [[0, highest, sign]], -sign * largest);
    if (count > 2)
      writer.powers('overflow', [
        [0, highest, sign],
        [1, highest, sign],
        [count - 1, highest, -sign as 1 | -1],
      ]);
  }
}

function specials(writer: ProbeWriter): void {
  const { form, count } = writer;
  const last = count - 1;
  const values = (type: ElementType): ProbeValue[] => nansOf(type);
  const hasInfinity = (type: ElementType): boolean => floatFormat(type)?.hasInfinity ?? false;
  for (const nan of values(form.a.type)) {
    writer.factors('NaN', [[0, nan, 1]], 1);
    writer.factors('NaN', [[last, nan, 0]], 1);
  }
  for (const nan of values(form.b.type)) writer.factors('NaN', [[0, 1, nan]], 1);
  for (const nan of values(form.c.type)) writer.factors('NaN', [[0, 1, 1]], nan);
  const [first] = values(form.a.type);
  const [, second] = values(form.b.type);
  const [, , third] = values(form.c.type);
  if (first !== undefined && second !== undefined && third !== undefined) {
    writer.factors('NaN', [[0, first, second]], third);
    writer.factors('NaN', [
      [0, first, 1],
      [1, 1, second],
    ]);
    writer.factors(
      'NaN',
      [
        [0, 1, second],
        [1, first, 1],
      ],
      third,
    );
  }
  for (const sign of [1, -1]) {
    writer.factors('infinities', [[0, 1, 1]], sign * Infinity);
    if (!hasInfinity(form.a.type) || !hasInfinity(form.b.type)) continue;
    writer.factors('infinities', [[0, sign * Infinity, 1]], 1);
    writer.factors('infinities', [[0, sign * Infinity, 0]], 1);
    writer.factors('infinities', [[0, sign * Infinity, -Infinity]], 1);
    writer.factors(
      'infinities',
      [
        [0, sign * Infinity, 1],
        [last, Infinity, 1],
      ],
      1,
    );
    writer.factors('infinities', [[0, sign * Infinity, 1]], Infinity);
    writer.factors('infinities', [[0, sign * Infinity, 2 ** writer.b.smallest]], 0);
  }
  if (form.a.type === 'tf32') {
    for (const bits of [
      0x3f801000n,
      0x3f800fffn,
      0x3f801fffn,
      0x3f803000n,
      0x7f800001n,
      0x7f801fffn,
      0x00001fffn,
      0x7f7fffffn,
    ])
      writer.factors('low bits of tf32', [[0, { bits }, 1]]);
  }
}

/** NaN of a type: quiet and signalling, of either sign, with other payloads. */
function nansOf(type: ElementType): ProbeValue[] {
  const format = floatFormat(type);
  if (format === undefined) return [];
  const { exponentBits, fractionBits, paddingBits, hasInfinity } = format;
  const [fraction, padding] = [BigInt(fractionBits), BigInt(paddingBits)];
  const top = (1n << BigInt(exponentBits)) - 1n;
  const sign = 1n << BigInt(exponentBits + fractionBits);
  const ones = (1n << fraction) - 1n;
  const quiet = 1n << (fraction - 1n);
  const payloads = hasInfinity
    ? [quiet, quiet | 1n, 1n, ones, quiet - 1n].filter((bits) => bits > 0n)
    : [ones];
  return payloads.flatMap((payload) =>
    [0n, sign].map((signBit) => ({ bits: (signBit | (top << fraction) | payload) << padding })),
  );
}

/** Many terms of one size: how far may a sum grow? */
function carries(writer: ProbeWriter): void {
  const { count } = writer;
  const all = Array.from({ length: count }, (_, at) => at);
  for (const value of [1, 1.5, 1.75]) {
    for (const sign of [1, -1]) {
      writer.factors(
        'carries',
        all.map((at) => [at, sign * value, value] as const),
        sign * 1.9990234375,
      );
      writer.factors(
        'carries',
        all.map((at) => [at, (at % 2 === 0 ? 1 : -1) * value, value] as const),
        sign,
      );
    }
  }
}
