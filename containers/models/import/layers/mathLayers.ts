import { pointerTo, type ModelDraft, type Tensor } from '../modelDraft.js';
import { elementCount, type Source } from './sources.js';
import { rowsOf } from './stridedLayers.js';

/** Functions of one value and up to two parameters, in the order of `mapped` in maths.cu. */
export const MATH_OPS = [
  'abs',
  'negate',
  'reciprocal',
  'floor',
  'ceil',
  'round',
  'truncate',
  'sign',
  'squareRoot',
  'exponential',
  'logarithm',
  'relu',
  'logistic',
  'tanh',
  'leakyRelu',
  'elu',
  'selu',
  'celu',
  'thresholdedRelu',
  'hardSigmoid',
  'hardSwish',
  'softplus',
  'softsign',
  'clip',
  'shrink',
  'gelu',
  'geluTanh',
  'mish',
  'swish',
  'erf',
  'isNaN',
  'isInfinite',
  'not',
  'isNotZero',
  'affine',
  'power',
  'toHalf',
] as const;
export type MathOp = (typeof MATH_OPS)[number];

/** In the order of `turned` in trigonometry.cu. */
export const TURN_OPS = [
  'sin',
  'cos',
  'tan',
  'asin',
  'acos',
  'atan',
  'sinh',
  'cosh',
  'asinh',
  'acosh',
  'atanh',
] as const;
export type TurnOp = (typeof TURN_OPS)[number];

export interface MathFunction {
  readonly op: MathOp | TurnOp;
  readonly a?: number;
  readonly b?: number;
}

/** The function of every one of x's values. @param width of an item of the result */
export function addMath(draft: ModelDraft, x: Source, width: number, { op, a, b }: MathFunction): Tensor {
  const y = draft.tensor(draft.layerName(op), x.element, width);
  const from = rowsOf(draft, x, width);
  const turn = TURN_OPS.findIndex((known) => known === op);
  draft.launchElements({
    module: turn < 0 ? 'maths' : 'trigonometry',
    kernel: `${turn < 0 ? 'map' : 'turn'}_${x.element}`,
    width,
    instructionsEach: 260,
    arguments:
      turn < 0
        ? [
            from,
            pointerTo(y),
            elementCount(width),
            { i32: MATH_OPS.findIndex((known) => known === op) },
            { f64: a ?? 0 },
            { f64: b ?? 0 },
          ]
        : [from, pointerTo(y), elementCount(width), { i32: turn }],
  });
  return y;
}
