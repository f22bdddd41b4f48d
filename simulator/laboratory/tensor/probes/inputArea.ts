import {
  type ElementType,
  type Operand,
  type TileForm,
  elementBits,
  floatFormat,
} from '../../../tensor/index.js';
import type { MoveForm } from '../forms/index.js';
import type { Mode } from './modes.js';
import { modesOf } from './modes.js';

/** Kinds of what lies in an input, as `generator.cu` numbers them. */
export const areaKinds = {
  floats: 0,
  integers: 1,
  twoOfFour: 2,
  oneOfTwo: 3,
  rows: 4,
  words: 5,
} as const;

/** One operand of a probe among a tile's words, and what its elements are drawn from. */
export interface InputArea {
  readonly kind: keyof typeof areaKinds;
  /** Words before it. */
  readonly offset: number;
  readonly units: number;
  readonly slots: number;
  readonly elementBits: number;
  /** Elements by slot, as in {@link Operand}; empty where units are drawn by themselves. */
  readonly map: Int32Array;
  readonly operand: number;
  /** Elements of which neighbours along k lie apart, and how many there are along k. */
  readonly pairStride: number;
  readonly pairExtent: number;
  readonly type?: ElementType;
  readonly modes: readonly Mode[];
}

/** Areas of a product's inputs, in the order of its words. */
export function tileAreas(form: TileForm): readonly InputArea[] {
  const areas: InputArea[] = [];
  let offset = 0;
  for (const [operand, role] of (['a', 'b', 'c'] as const).entries()) {
    const matrix = form[role];
    areas.push({ ...matrixArea(matrix, operand, offset), modes: modesOf(form, role) });
    offset += (matrix.units * matrix.unitBits) / 32;
  }
  if (form.sparse !== undefined) areas.push(plainArea(form.sparse.indices, 3, offset, 32));
  return areas;
}

function matrixArea(matrix: Operand, operand: number, offset: number): Omit<InputArea, 'modes'> {
  const { type, units, slots, map, rows, columns } = matrix;
  const isLeft = operand === 0;
  return {
    kind: floatFormat(type) === undefined ? 'integers' : 'floats',
    offset,
    units,
    slots,
    elementBits: elementBits(type),
    map,
    operand,
    pairStride: isLeft ? 1 : columns,
    pairExtent: isLeft ? columns : rows,
    type,
  };
}

function plainArea(kind: InputArea['kind'], operand: number, offset: number, units: number): InputArea {
  return {
    kind,
    offset,
    units,
    slots: 1,
    elementBits: 32,
    map: new Int32Array(0),
    operand,
    pairStride: 1,
    pairExtent: 1,
    modes: [],
  };
}

/** Areas of a move's inputs: words, and of `ldmatrix` and `stmatrix` a row for each lane. */
export function moveAreas(form: MoveForm): readonly InputArea[] {
  let offset = 0;
  return form.inputs.map(({ kind, count, register }, operand) => {
    const words = kind === 'memory' ? count : count * (register === 'f64' ? 64 : 32);
    const area = plainArea(kind === 'rows' ? 'rows' : 'words', operand, offset, words);
    offset += words;
    return area;
  });
}
