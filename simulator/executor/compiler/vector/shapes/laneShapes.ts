import type { IrOperand } from '../../../../ptx/index.js';

/**
 * How a value differs from lane to lane of a chunk. `affine`: lane l has the value of lane 0 plus l times the stride,
 * wrapped to the register's width.
 */
export type LaneShape =
  | { readonly kind: 'uniform' }
  | { readonly kind: 'affine'; readonly stride: number }
  | { readonly kind: 'varying' };

export const UNIFORM: LaneShape = { kind: 'uniform' };
export const VARYING: LaneShape = { kind: 'varying' };

/** Strides beyond this are not worth following. */
const MOST_STRIDE = 2 ** 30;

export function affine(stride: number): LaneShape {
  if (stride === 0) return UNIFORM;
  return Number.isSafeInteger(stride) && Math.abs(stride) <= MOST_STRIDE
    ? { kind: 'affine', stride }
    : VARYING;
}

export function sameShape(a: LaneShape, b: LaneShape): boolean {
  if (a.kind === 'affine' && b.kind === 'affine') return a.stride === b.stride;
  return a.kind === b.kind;
}

/** The shape of a register that holds either. */
export function meetShapes(a: LaneShape | undefined, b: LaneShape): LaneShape {
  if (a === undefined || sameShape(a, b)) return b;
  return VARYING;
}

/** Stride of a shape that one scalar can stand for: 0 for uniform; undefined for varying. */
export function strideOf(shape: LaneShape): number | undefined {
  if (shape.kind === 'uniform') return 0;
  return shape.kind === 'affine' ? shape.stride : undefined;
}

/** A chunk's lanes have neighbouring %tid.x and the same %tid.y and %tid.z. */
export function shapeOfSpecial(name: string): LaneShape {
  if (name === 'tid.x' || name === 'laneid') return affine(1);
  return name.startsWith('lanemask_') ? VARYING : UNIFORM;
}

/** @param ofRegister the shape of each register, the ones that are not known yet undefined. */
export function shapeOfOperand(
  operand: IrOperand | undefined,
  ofRegister: (register: number) => LaneShape | undefined,
): LaneShape | undefined {
  switch (operand?.kind) {
    case 'register':
      return ofRegister(operand.register);
    case 'negatedPredicate':
      return ofRegister(operand.register);
    case 'special':
      return shapeOfSpecial(operand.name);
    case 'address':
      return typeof operand.base === 'number' ? ofRegister(operand.base) : UNIFORM;
    case 'vector': {
      let all: LaneShape | undefined = UNIFORM;
      for (const element of operand.elements) {
        const shape = shapeOfOperand(element, ofRegister);
        if (shape === undefined) all = undefined;
        else if (shape.kind !== 'uniform') return VARYING;
      }
      return all;
    }
    case 'pair':
    case undefined:
    case 'integer':
    case 'float':
    case 'symbol':
    case 'sink':
    case 'label':
      return UNIFORM;
  }
}
