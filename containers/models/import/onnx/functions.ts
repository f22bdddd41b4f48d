import type { MathOp, TurnOp } from '../layers/mathLayers.js';
import type { PairOp } from '../layers/stridedLayers.js';
import { halfOf } from './tensorValues.js';

/** What the kernels compute, in plain code: of constants, and for tests. */
export const MATH_FUNCTIONS: Readonly<Record<MathOp | TurnOp, (x: number, a: number, b: number) => number>> =
  {
    abs: Math.abs,
    negate: (x) => -x,
    reciprocal: (x) => 1 / x,
    floor: Math.floor,
    ceil: Math.ceil,
    round: roundedToEven,
    truncate: Math.trunc,
    sign: Math.sign,
    squareRoot: Math.sqrt,
    exponential: Math.exp,
    logarithm: Math.log,
    relu: (x) => Math.max(x, 0),
    logistic,
    tanh: Math.tanh,
    leakyRelu: (x, a) => (x < 0 ? a * x : x),
    elu: (x, a) => (x < 0 ? a * Math.expm1(x) : x),
    selu: (x, a, b) => (x > 0 ? b * x : b * a * Math.expm1(x)),
    celu: (x, a) => Math.max(x, 0) + Math.min(a * Math.expm1(x / a), 0),
    thresholdedRelu: (x, a) => (x > a ? x : 0),
    hardSigmoid: (x, a, b) => Math.max(0, Math.min(1, a * x + b)),
    hardSwish: (x) => x * Math.max(0, Math.min(1, x / 6 + 0.5)),
    softplus,
    softsign: (x) => x / (1 + Math.abs(x)),
    clip: (x, a, b) => Math.min(Math.max(x, a), b),
    shrink: (x, a, b) => (x < -a ? x + b : x > a ? x - b : 0),
    gelu: (x) => 0.5 * x * (1 + errorFunction(x * Math.SQRT1_2)),
    geluTanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
    mish: (x) => x * Math.tanh(softplus(x)),
    swish: (x, a) => x * logistic(a * x),
    erf: errorFunction,
    isNaN: (x) => Number(Number.isNaN(x)),
    isInfinite: (x, a, b) => Number((x === -Infinity && a !== 0) || (x === Infinity && b !== 0)),
    not: (x) => Number(x === 0),
    isNotZero: (x) => Number(x !== 0),
    affine: (x, a, b) => x * a + b,
    power: (x, a) => x ** a,
    toHalf: roundedToHalf,
    sin: Math.sin,
    cos: Math.cos,
    tan: Math.tan,
    asin: Math.asin,
    acos: Math.acos,
    atan: Math.atan,
    sinh: Math.sinh,
    cosh: Math.cosh,
    asinh: Math.asinh,
    acosh: Math.acosh,
    atanh: Math.atanh,
  };

export const PAIR_FUNCTIONS: Readonly<Record<PairOp, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  subtract: (a, b) => a - b,
  multiply: (a, b) => a * b,
  divide: (a, b) => a / b,
  divideWhole: (a, b) => Math.trunc(a / b),
  power: (a, b) => a ** b,
  modulo: (a, b) => (a % b !== 0 && a % b < 0 !== b < 0 ? (a % b) + b : a % b),
  remainder: (a, b) => a % b,
  largest: Math.max,
  smallest: Math.min,
  parametricRelu: (a, b) => (a < 0 ? a * b : a),
  equal: (a, b) => Number(a === b),
  less: (a, b) => Number(a < b),
  lessOrEqual: (a, b) => Number(a <= b),
  greater: (a, b) => Number(a > b),
  greaterOrEqual: (a, b) => Number(a >= b),
  and: (a, b) => Number(a !== 0 && b !== 0),
  or: (a, b) => Number(a !== 0 || b !== 0),
  exclusiveOr: (a, b) => Number((a !== 0) !== (b !== 0)),
};

function logistic(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

export function roundedToEven(x: number): number {
  const down = Math.floor(x);
  if (x - down !== 0.5) return Math.round(x);
  return down % 2 === 0 ? down : down + 1;
}

/** The nearest float16, the even one of two. */
function roundedToHalf(x: number): number {
  if (!Number.isFinite(x) || x === 0) return x;
  const exponent = Math.max(-14, Math.floor(Math.log2(Math.abs(x))));
  const step = 2 ** (exponent - 10);
  const rounded = roundedToEven(x / step) * step;
  const largest = halfOf(0x7bff);
  return Math.abs(rounded) > largest ? Math.sign(x) * Infinity : rounded;
}

/** By its power series near 0 and a continued fraction beyond, within 1e-15. */
function errorFunction(x: number): number {
  const size = Math.abs(x);
  if (size < 2.5) {
    let term = size;
    let sum = size;
    for (let n = 1; Math.abs(term) > 1e-18 * sum; n++) {
      term *= (-size * size) / n;
      sum += term / (2 * n + 1);
      if (size === 0) break;
    }
    return (Math.sign(x) * 2 * sum) / Math.sqrt(Math.PI);
  }
  let fraction = 0;
  for (let n = 80; n > 0; n--) fraction = n / 2 / (size + fraction);
  return Math.sign(x) * (1 - Math.exp(-size * size) / ((size + fraction) * Math.sqrt(Math.PI)));
}
