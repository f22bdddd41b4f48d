import { elementBits, type ElementType } from './elementTypes.js';
import type { Shape } from './fragments.js';
import { inRegisters, type Operand } from './operand.js';

interface Fragment extends Shape {
  readonly fragment: 'a' | 'b' | 'c' | 'd';
  readonly type: ElementType;
  /** Registers a lane has of it: where they are more than it has elements for, elements come again. */
  readonly registers: number;
}

/**
 * Fragments of `wmma` on sm_90, which the PTX ISA leaves open: made of those of `mma`, whatever the order of the matrix in memory. With
 * g and t of a lane as there and E elements a register, blocks of A are 8 rows by 4 · E along k; two go down, the next along k, and then
 * the next 16 rows; those of B go along k first. Products of 8 rows by 32 columns are those of 32 by 8 turned about.
 */
export function wmmaFragment({ m, n, k, fragment, type, registers }: Fragment): Operand {
  const isTurned = n === 32;
  const [rows, columns] = { a: [m, k], b: [k, n], c: [m, n], d: [m, n] }[fragment];
  const elements = Math.max(1, 32 / elementBits(type));
  const place = (lane: number, register: number, slot: number): readonly [across: number, along: number] => {
    const [group, own] = [lane >> 2, lane & 3];
    if (fragment === 'c' || fragment === 'd') {
      const isPacked = elements > 1;
      const pair = isPacked ? register : register >> 1;
      const down = isTurned ? n / 8 : m / 8;
      return [
        group + 8 * (pair % down),
        2 * own + (isPacked ? slot : register & 1) + 8 * Math.floor(pair / down),
      ];
    }
    const steps = k / (4 * elements);
    const extent = fragment === 'a' ? m : n;
    const at = register % ((extent / 8) * steps);
    const isDownFirst = (fragment === 'a') !== isTurned;
    const down = isDownFirst ? Math.min(extent / 8, 2) : 1;
    const [block, step] = [at % down, Math.floor(at / down) % steps];
    const across = block + down * Math.floor(at / (down * steps));
    return [group + 8 * across, own * elements + slot + step * 4 * elements];
  };
  return inRegisters({ type, rows, columns }, registers, (lane, register, slot) => {
    const [across, along] = place(lane, register, slot);
    const isColumn = fragment === 'b' || (fragment !== 'a' && isTurned);
    return isColumn ? { row: along, column: across } : { row: across, column: along };
  });
}
