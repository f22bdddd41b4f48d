import {
  fromBfloat,
  fromHalf,
  kernelFixture,
  permutation,
  toBfloat,
  toHalf,
  uniform,
} from '../../kernels/index.js';

function file(name: string): URL {
  return new URL(`./${name}.ptx`, import.meta.url);
}

const width = 64;
const scale = Math.fround(Math.LOG2E / 8);

interface Attended {
  /** Σ of a key's probability times what `value` says of it in a column. */
  readonly average: (value: (key: number, column: number) => number) => number[];
  /** Base-2 logarithm of the sum of powers. */
  readonly logSum: number;
}

/** Softmax in base 2 over the first `keys` keys. */
function attend(keys: number, score: (key: number) => number): Attended {
  const scores = Array.from({ length: keys }, (_, key) => score(key));
  const most = Math.max(...scores);
  const powers = scores.map((value) => 2 ** (value - most));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return {
    average: (value) =>
      Array.from(
        { length: width },
        (_, column) => powers.reduce((sum, power, key) => sum + power * value(key, column), 0) / total,
      ),
    logSum: most + Math.log2(total),
  };
}

function dot(left: (at: number) => number, right: (at: number) => number): number {
  let sum = 0;
  for (let at = 0; at < width; at++) sum += left(at) * right(at);
  return sum * scale;
}

const causal = { heads: 2, sharing: 2, length: 100 } as const;

export const causalAttention = kernelFixture({
  ptx: file('causalAttention'),
  buffers: () => {
    const one = causal.length * width;
    const keyHeads = causal.heads / causal.sharing;
    return {
      q: Uint16Array.from(uniform(causal.heads * one, 371, -2, 2), toHalf),
      k: Uint16Array.from(uniform(keyHeads * one, 372, -2, 2), toHalf),
      // No negative values: bits of what comes out can be compared as numbers.
      v: Uint16Array.from(uniform(keyHeads * one, 373, 0.25, 1), toHalf),
      out: new Uint16Array(causal.heads * one),
      logSums: new Float32Array(causal.heads * causal.length),
    };
  },
  launches: [
    {
      kernel: 'causalAttention',
      grid: [Math.ceil(causal.length / 64), causal.heads],
      block: 128,
      args: [
        { buffer: 'q' },
        { buffer: 'k' },
        { buffer: 'v' },
        { buffer: 'out' },
        { buffer: 'logSums' },
        { i32: causal.length },
        { i32: causal.sharing },
        { f32: scale },
      ],
    },
  ],
  reference: ({ q, k, v, out, logSums }) => {
    const { heads, sharing, length } = causal;
    for (let line = 0; line < heads * length; line++) {
      const base = Math.floor(line / length / sharing) * length;
      const { average, logSum } = attend((line % length) + 1, (key) =>
        dot(
          (at) => fromHalf(q[line * width + at]),
          (at) => fromHalf(k[(base + key) * width + at]),
        ),
      );
      logSums[line] = logSum;
      out.set(average((key, column) => fromHalf(v[(base + key) * width + column])).map(toHalf), line * width);
    }
  },
  // Probabilities are rounded to f16 before they meet the values: two places of an f16.
  outputs: { out: { absolute: 2 }, logSums: { absolute: 1e-3 } },
});

const decode = { keyHeads: 2, sharing: 8, tableWidth: 12, pages: 40, pagesEach: 4, page: 16 } as const;
const shares = decode.tableWidth / decode.pagesEach;
/** The second sequence leaves its last share without a page. */
const lengths = [181, 96, 3] as const;
const queries = lengths.length * decode.keyHeads * decode.sharing;

export const decodeAttention = kernelFixture({
  ptx: file('decodeAttention'),
  buffers: () => {
    const cache = decode.pages * decode.keyHeads * decode.page * width;
    return {
      q: Uint16Array.from(uniform(queries * width, 375, -2, 2), toBfloat),
      keys: Uint16Array.from(uniform(cache, 376, -2, 2), toBfloat),
      values: Uint16Array.from(uniform(cache, 377, -1, 1), toBfloat),
      table: permutation(decode.pages, 374).slice(0, lengths.length * decode.tableWidth),
      lengths: Int32Array.from(lengths),
      parts: new Float32Array(queries * shares * width),
      marks: new Float32Array(queries * shares * 2),
      out: new Float32Array(queries * width),
    };
  },
  launches: [
    {
      kernel: 'decodeParts',
      grid: [shares, decode.keyHeads, lengths.length],
      block: 32,
      args: [
        { buffer: 'q' },
        { buffer: 'keys' },
        { buffer: 'values' },
        { buffer: 'table' },
        { buffer: 'lengths' },
        { buffer: 'parts' },
        { buffer: 'marks' },
        { i32: decode.tableWidth },
        { i32: decode.pagesEach },
        { f32: scale },
      ],
    },
    {
      kernel: 'decodeJoin',
      grid: queries,
      block: width,
      args: [{ buffer: 'parts' }, { buffer: 'marks' }, { buffer: 'out' }, { i32: shares }],
    },
  ],
  reference: ({ q, keys, values, table, out }) => {
    const { keyHeads, sharing, page, tableWidth } = decode;
    for (let query = 0; query < queries; query++) {
      const group = Math.floor(query / sharing);
      const sequence = Math.floor(group / keyHeads);
      const row = (key: number): number => {
        const held = table[sequence * tableWidth + Math.floor(key / page)] ?? 0;
        return ((held * keyHeads + (group % keyHeads)) * page + (key % page)) * width;
      };
      const { average } = attend(lengths[sequence] ?? 0, (key) =>
        dot(
          (at) => fromBfloat(q[query * width + at]),
          (at) => fromBfloat(keys[row(key) + at]),
        ),
      );
      out.set(
        average((key, column) => fromBfloat(values[row(key) + column])),
        query * width,
      );
    }
  },
  // Probabilities are rounded to bf16 before they meet the values.
  outputs: { out: { absolute: 4e-3 } },
});
