import {
  cosine,
  divideApproximately,
  divideFully,
  hyperbolicTangent,
  logarithm2,
  reciprocal,
  reciprocal64,
  reciprocalRoot,
  reciprocalRoot64,
  root,
  sine,
} from './approximate.js';
import { exponential2 } from './exponential.js';
import {
  add32,
  add64,
  divide32,
  divide64,
  flush32,
  fusedMultiplyAdd32,
  fusedMultiplyAdd64,
  maximum,
  minimum,
  multiply32,
  multiply64,
  saturate,
  squareRoot32,
  squareRoot64,
} from './float.js';
import type { Rounding } from './floatFormat.js';
import type { OperationMaker, OperationShape } from './operationTypes.js';
import { numeric } from './operationTypes.js';

/** Rounding among the modifiers; `.rn` where none is written. */
export function roundingOf(has: (modifier: string) => boolean): Rounding {
  if (has('rz') || has('rzi')) return 'towardZero';
  if (has('rm') || has('rmi')) return 'towardNegative';
  if (has('rp') || has('rpi')) return 'towardPositive';
  return 'nearestEven';
}

type Rounded = (a: number, b: number, rounding: Rounding) => number;

/** Puts `.ftz` around operands and result and `.sat` after it; both exist for f32 only. */
function around(
  shape: OperationShape,
  apply: (a: number, b: number, c: number) => number,
): ReturnType<OperationMaker> {
  const flushes = shape.has('ftz') && shape.bits === 32;
  const clamps = shape.has('sat');
  if (!flushes && !clamps) return { apply: numeric((a = 0, b = 0, c = 0) => apply(a, b, c)) };
  return {
    apply: numeric((a = 0, b = 0, c = 0) => {
      const result = flushes ? flush32(apply(flush32(a), flush32(b), flush32(c))) : apply(a, b, c);
      return clamps ? saturate(result) : result;
    }),
  };
}

function binary(single: Rounded, double: Rounded): OperationMaker {
  return (shape) => {
    const rounding = roundingOf(shape.has);
    const chosen = shape.bits === 64 ? double : single;
    return around(shape, (a, b) => chosen(a, b, rounding));
  };
}

function unary(single: (a: number) => number, double: (a: number) => number): OperationMaker {
  return (shape) => around(shape, shape.bits === 64 ? double : single);
}

const fused: OperationMaker = (shape) => {
  const rounding = roundingOf(shape.has);
  const chosen = shape.bits === 64 ? fusedMultiplyAdd64 : fusedMultiplyAdd32;
  return around(shape, (a, b, c) => chosen(a, b, c, rounding));
};

const subtract32: Rounded = (a, b, rounding) => add32(a, -b, rounding);
const subtract64: Rounded = (a, b, rounding) => add64(a, -b, rounding);

function extreme(choose: (a: number, b: number) => number): OperationMaker {
  return (shape) =>
    around(shape, shape.has('NaN') ? (a, b) => (a !== a || b !== b ? NaN : choose(a, b)) : choose);
}

export const floatOperations: Readonly<Record<string, OperationMaker>> = {
  'add.float': binary(add32, add64),
  'sub.float': binary(subtract32, subtract64),
  'mul.float': binary(multiply32, multiply64),
  'mad.float': fused,
  fma: fused,
  'div.float': (shape) => {
    if (shape.has('approx')) return around(shape, divideApproximately);
    if (shape.has('full')) return around(shape, divideFully);
    return binary(divide32, divide64)(shape);
  },
  'neg.float': unary(
    (a) => -a,
    (a) => -a,
  ),
  'abs.float': unary(Math.abs, Math.abs),
  'min.float': extreme(minimum),
  'max.float': extreme(maximum),
  rcp: (shape) => {
    if (shape.has('approx')) return unary(reciprocal, reciprocal64)(shape);
    const rounding = roundingOf(shape.has);
    return around(
      shape,
      shape.bits === 64 ? (a) => divide64(1, a, rounding) : (a) => divide32(1, a, rounding),
    );
  },
  sqrt: (shape) => {
    if (shape.has('approx')) return around(shape, root);
    const rounding = roundingOf(shape.has);
    return around(
      shape,
      shape.bits === 64 ? (a) => squareRoot64(a, rounding) : (a) => squareRoot32(a, rounding),
    );
  },
  rsqrt: unary(reciprocalRoot, reciprocalRoot64),
  sin: unary(sine, sine),
  cos: unary(cosine, cosine),
  lg2: unary(logarithm2, logarithm2),
  ex2: unary(exponential2, exponential2),
  tanh: unary(hyperbolicTangent, hyperbolicTangent),
};
