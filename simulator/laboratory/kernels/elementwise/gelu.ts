import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const n = 700;

/** erf by its series: terms of alternating sign lose no more than six digits for |x| < 4.3. */
function erf(x: number): number {
  let term = x;
  let sum = x;
  for (let k = 1; k < 120; k++) {
    term *= (-x * x) / k;
    sum += term / (2 * k + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

export const gelu = kernelFixture({
  ptx: new URL('./gelu.ptx', import.meta.url),
  buffers: () => ({
    x: uniform(n, 3, -6, 6),
    tanhForm: new Float32Array(n),
    sigmoidForm: new Float32Array(n),
    preciseForm: new Float32Array(n),
  }),
  launches: [
    {
      kernel: 'gelu',
      grid: 6,
      block: 128,
      args: [
        { buffer: 'x' },
        { buffer: 'tanhForm' },
        { buffer: 'sigmoidForm' },
        { buffer: 'preciseForm' },
        { i32: n },
      ],
    },
  ],
  reference: ({ x, tanhForm, sigmoidForm, preciseForm }) =>
    x.forEach((v, i) => {
      tanhForm[i] = 0.5 * v * (1 + Math.tanh(0.7978845608 * (v + 0.044715 * v ** 3)));
      sigmoidForm[i] = v / (1 + Math.exp(-1.702 * v));
      preciseForm[i] = 0.5 * v * (1 + erf(v * Math.SQRT1_2));
    }),
  // tanh.approx is within 2^-11 of its value, which v/2 multiplies.
  outputs: {
    tanhForm: { absolute: 3 * 2 ** -11 },
    sigmoidForm: { absolute: 1e-6, relative: 1e-5 },
    preciseForm: { absolute: 2e-6 },
  },
});
