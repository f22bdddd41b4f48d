import { elementBits, type ElementType } from './elementTypes.js';

/**
 * One matrix of a form, and where its elements lie in what a probe kernel loads or stores: an array of units, of 64 bits for f64
 * and of 32 else. Unit `register * 32 + lane` is a lane's register; a matrix in memory is an image of it, unit after unit.
 */
export interface Operand {
  readonly type: ElementType;
  /** Independent products that a warp computes at once: 4 of the first shape, else 1. */
  readonly batches: number;
  readonly rows: number;
  readonly columns: number;
  readonly units: number;
  readonly unitBits: 32 | 64;
  /** Elements of a unit, the first in its lowest bits. */
  readonly slots: number;
  /** Of slot s of unit u at `u * slots + s`: (batch · rows + row) · columns + column, or -1 where there is no element. */
  readonly map: Int32Array;
  /** Registers a lane has of it; undefined of a matrix in memory. */
  readonly registers?: number;
  /** Order and leading dimension, in elements, of a matrix in memory. */
  readonly image?: { readonly layout: 'row' | 'col'; readonly leading: number };
}

export interface ElementPlace {
  readonly batch?: number;
  readonly row: number;
  readonly column: number;
}

interface Extents {
  readonly type: ElementType;
  readonly rows: number;
  readonly columns: number;
  readonly batches?: number;
}

/** An operand in registers: `place` says which element slot `slot` of register `register` of `lane` (of a warpgroup: of the thread) is. */
export function inRegisters(
  { type, rows, columns, batches = 1 }: Extents,
  registers: number,
  place: (lane: number, register: number, slot: number) => ElementPlace,
  threads = 32,
): Operand {
  const { unitBits, slots } = unitOf(type);
  const units = registers * threads;
  const map = new Int32Array(units * slots);
  for (let register = 0; register < registers; register++) {
    for (let lane = 0; lane < threads; lane++) {
      for (let slot = 0; slot < slots; slot++) {
        const { batch = 0, row, column } = place(lane, register, slot);
        map[(register * threads + lane) * slots + slot] = (batch * rows + row) * columns + column;
      }
    }
  }
  return { type, batches, rows, columns, units, unitBits, slots, map, registers };
}

/** An operand in memory, as `wmma.load` and `wmma.store` see it. A row or column of it begins at a multiple of 16 bytes. */
export function inMemory({ type, rows, columns }: Extents, layout: 'row' | 'col'): Operand {
  const { unitBits, slots } = unitOf(type);
  const bits = elementBits(type);
  const [lines, length] = layout === 'row' ? [rows, columns] : [columns, rows];
  const leading = Math.max(length, 128 / bits);
  const units = (lines * leading) / slots;
  const map = new Int32Array(units * slots).fill(-1);
  for (let line = 0; line < lines; line++) {
    for (let at = 0; at < length; at++)
      map[line * leading + at] = layout === 'row' ? line * columns + at : at * columns + line;
  }
  return { type, batches: 1, rows, columns, units, unitBits, slots, map, image: { layout, leading } };
}

/** An operand in shared memory, of which element after element `place` says which one it is. */
export function ofMap({ type, rows, columns }: Extents, place: (at: number) => ElementPlace): Operand {
  const { unitBits, slots } = unitOf(type);
  const map = Int32Array.from({ length: rows * columns }, (_, at) => {
    const { row, column } = place(at);
    return row * columns + column;
  });
  return { type, batches: 1, rows, columns, units: map.length / slots, unitBits, slots, map };
}

/** 32-bit words that an operand takes. */
export function operandWords(operand: Operand): number {
  return (operand.units * operand.unitBits) / 32;
}

function unitOf(type: ElementType): { readonly unitBits: 32 | 64; readonly slots: number } {
  const bits = elementBits(type);
  return { unitBits: bits === 64 ? 64 : 32, slots: Math.max(1, 32 / bits) };
}
