import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const n = 70;
const { fround } = Math;
type Complex = readonly [number, number];
const poly: readonly Complex[] = [
  [1.5, -0.25],
  [-0.75, 2],
  [0.3125, 1.125],
  [2.25, -1],
];
const [degree, tag] = [3, 65];

function multiply([a, b]: Complex, [c, d]: Complex): Complex {
  return [fround(fround(a * c) - fround(b * d)), fround(fround(a * d) + fround(b * c))];
}

function evaluate(coefficients: readonly Complex[], z: Complex): Complex {
  return coefficients.reduceRight<Complex>(
    (sum, [re, im]) => {
      const product = multiply(sum, z);
      return [fround(product[0] + re), fround(product[1] + im)];
    },
    [0, 0],
  );
}

function derive(coefficients: readonly Complex[]): Complex[] {
  return coefficients.slice(1).map(([re, im], k) => [fround(re * (k + 1)), fround(im * (k + 1))]);
}

export const structCalls = kernelFixture({
  ptx: new URL('./structCalls.ptx', import.meta.url),
  buffers: () => ({
    points: uniform(2 * n, 175, -2, 2),
    values: new Float32Array(2 * n),
    slopes: new Float32Array(2 * n),
    tags: new Int32Array(n),
  }),
  launches: [
    {
      kernel: 'structCalls',
      grid: 2,
      block: 64,
      args: [
        { buffer: 'points' },
        { buffer: 'values' },
        { buffer: 'slopes' },
        { buffer: 'tags' },
        // short and char share the last word.
        { struct: [...poly.flat().map((f32) => ({ f32 })), { u32: degree | (tag << 16) }] },
        { i32: n },
      ],
    },
  ],
  reference: ({ points, values, slopes, tags }) => {
    for (let i = 0; i < n; i++) {
      const z: Complex = [points[2 * i], points[2 * i + 1]];
      const times = i % 2 === 0 ? 1 : 2;
      values.set(evaluate(poly, z), 2 * i);
      slopes.set(evaluate(times === 1 ? derive(poly) : derive(derive(poly)), z), 2 * i);
      tags[i] = (tag + times) * 100 + degree - times;
    }
  },
  outputs: { values: 'exact', slopes: 'exact', tags: 'exact' },
});
