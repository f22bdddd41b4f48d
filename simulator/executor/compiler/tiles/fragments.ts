import type { Operand, TileForm } from '../../../tensor/index.js';
import { linearIndex, type LinearIndex } from './linearIndex.js';

/** Across which blocks of an operand's fragments lie: its rows, or its columns. */
type Side = 'rows' | 'columns';

/**
 * Registers of A or B, each 8 lines of 16 bytes: `across` of the product (rows of A, columns of B) a line each, neighbours along k in it.
 */
export interface FactorBlocks {
  readonly operand: Operand;
  /** How many lines there are. */
  readonly across: number;
  /** Elements along k. */
  readonly along: number;
  /** Elements along k of a block. */
  readonly length: number;
  /** Which one has the block of lines `line` at block `step` along k. */
  readonly register: (line: number, step: number) => number;
}

/**
 * Registers of C or D, each 8 lines across, of 4 lanes. f32: a lane has one of two neighbours of the other side, the next register has the
 * next; f16: it has both.
 */
export interface SumBlocks {
  readonly operand: Operand;
  readonly registers: number;
  readonly across: number;
  /** The first place across, and on the other side, of a register's elements, as sums of what the register's bits add. */
  readonly firstAcross: LinearIndex;
  readonly firstOther: LinearIndex;
}

/** How a form's product is computed: lines of one factor against those of the other; of floats 16 of the wide one are a vector. */
export interface VectorPlan {
  readonly wide: FactorBlocks;
  readonly single: FactorBlocks;
  readonly c: SumBlocks;
  readonly d: SumBlocks;
}

/**
 * Where vectors of a form's fragments lie.
 * @throws RangeError where they do not lie so
 */
export function vectorPlan(form: TileForm): VectorPlan {
  // A product of 8 by 32 lies as one of 32 by 8 turned about.
  const isTurned = form.d.columns > 16;
  const rows = factorBlocks(form.a, 'rows');
  const columns = factorBlocks(form.b, 'columns');
  const [wide, single] = isTurned ? [columns, rows] : [rows, columns];
  const side = isTurned ? 'columns' : 'rows';
  return { wide, single, c: sumBlocks(form.c, side), d: sumBlocks(form.d, side) };
}

function placeAt(operand: Operand, unit: number, slot: number): readonly [row: number, column: number] {
  const element = operand.map[unit * operand.slots + slot] ?? 0;
  return [Math.floor(element / operand.columns), element % operand.columns];
}

function factorBlocks(operand: Operand, side: Side): FactorBlocks {
  const { slots, rows, columns, units } = operand;
  const [across, along] = side === 'rows' ? [rows, columns] : [columns, rows];
  const length = 4 * slots;
  const steps = along / length;
  const registers = new Map<number, number>();
  for (let register = 0; register < units / 32; register++) {
    const [line, at] = sided(placeAt(operand, register * 32, 0), side);
    for (let lane = 0; lane < 32; lane++) {
      for (let slot = 0; slot < slots; slot++) {
        const [own, place] = sided(placeAt(operand, register * 32 + lane, slot), side);
        if (own !== line + (lane >> 2) || place !== at + (lane & 3) * slots + slot)
          throw new RangeError('fragments of another kind');
      }
    }
    if (line % 8 !== 0 || at % length !== 0) throw new RangeError('fragments of another kind');
    // Where elements come again the last ones count.
    registers.set((line / 8) * steps + at / length, register);
  }
  const register = (line: number, step: number): number => {
    const found = registers.get(line * steps + step);
    if (found === undefined) throw new RangeError('fragments of another kind');
    return found;
  };
  return { operand, across, along, length, register };
}

function sumBlocks(operand: Operand, side: Side): SumBlocks {
  const { slots, rows, units } = operand;
  const registers = units / 32;
  const firsts = Array.from({ length: registers }, (_, register) =>
    sided(placeAt(operand, register * 32, 0), side),
  );
  for (let unit = 0; unit < units; unit++) {
    const [line, other] = firsts[unit >> 5] ?? [0, 0];
    for (let slot = 0; slot < slots; slot++) {
      const [own, place] = sided(placeAt(operand, unit, slot), side);
      if (own !== line + ((unit >> 2) & 7) || place !== other + (unit & 3) * 2 + slot)
        throw new RangeError('fragments of another kind');
    }
  }
  return {
    operand,
    registers,
    across: side === 'rows' ? rows : operand.columns,
    firstAcross: linearIndex(firsts.map(([line]) => line)),
    firstOther: linearIndex(firsts.map(([, other]) => other)),
  };
}

function sided(
  [row, column]: readonly [number, number],
  side: Side,
): readonly [across: number, other: number] {
  return side === 'rows' ? [row, column] : [column, row];
}
