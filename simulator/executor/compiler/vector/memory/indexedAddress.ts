import type { IrFunction, IrInstruction, IrOperand } from '../../../../ptx/index.js';
import { typeBits, writtenRegisters } from '../../../../ptx/index.js';
import type { VectorOperands } from '../operands/index.js';

/** An address that is a uniform base plus a widened index of 32 bits times a power of two: `a[i]` with any `i`. */
export interface IndexedAddress {
  readonly base: IrOperand;
  /** A varying register of 32 bits. */
  readonly index: IrOperand;
  readonly isSigned: boolean;
  readonly log2Scale: number;
}

const MOST_LOG2_SCALE = 4;

/**
 * Looks for how the address register of an access came about, backwards in its block, as long as what it came from is
 * still there at the access.
 */
export function findIndexedAddress(
  v: VectorOperands,
  instruction: IrInstruction,
  register: number,
): IndexedAddress | undefined {
  const walk = new BlockWalk(v.fn, instruction.index);
  const sum = walk.definition(register);
  if (sum === undefined) return undefined;
  const isUniform = (operand: IrOperand | undefined): operand is IrOperand =>
    operand?.kind === 'register' && v.shapeOf(operand).kind === 'uniform' && bitsOf(v, operand) === 64;
  if (sum.opcode === 'mad' && sum.modifiers.includes('wide')) {
    const [index, scale, base] = sum.sources;
    if (!isUniform(base)) return undefined;
    return combine(v, walk, sum, base, { index, scale, isSigned: sum.modifiers.includes('s32') });
  }
  if (sum.opcode !== 'add' || sum.types.at(-1)?.endsWith('64') !== true) return undefined;
  const [left, right] = sum.sources;
  const [base, product] = isUniform(left) ? [left, right] : [right, left];
  if (!isUniform(base) || product?.kind !== 'register') return undefined;
  const factor = walk.definition(product.register, sum.index);
  if (factor === undefined) return undefined;
  return combine(v, walk, factor, base, productOf(walk, factor));
}

interface Product {
  readonly index: IrOperand | undefined;
  readonly scale: IrOperand | undefined;
  readonly isSigned: boolean;
}

/** A widened product, or a widened value that is shifted. */
function productOf(walk: BlockWalk, factor: IrInstruction): Product | undefined {
  const [value, by] = factor.sources;
  if (factor.opcode === 'mul' && factor.modifiers.includes('wide'))
    return { index: value, scale: by, isSigned: factor.modifiers.includes('s32') };
  if (factor.opcode !== 'shl' || value?.kind !== 'register' || by?.kind !== 'integer') return undefined;
  const widening = walk.definition(value.register, factor.index);
  if (widening?.opcode !== 'cvt' || by.low < 0 || by.low > MOST_LOG2_SCALE) return undefined;
  const [to, from] = widening.types;
  if ((to !== 's64' && to !== 'u64') || (from !== 's32' && from !== 'u32')) return undefined;
  return {
    index: widening.sources[0],
    scale: { kind: 'integer', low: 1 << by.low, high: 0 },
    isSigned: from === 's32',
  };
}

function combine(
  v: VectorOperands,
  walk: BlockWalk,
  factor: IrInstruction,
  base: IrOperand,
  product: Product | undefined,
): IndexedAddress | undefined {
  if (product === undefined) return undefined;
  const { index, scale, isSigned } = product;
  if (scale?.kind !== 'integer' || index?.kind !== 'register' || bitsOf(v, index) !== 32) return undefined;
  if (v.shapeOf(index).kind !== 'varying' || base.kind !== 'register') return undefined;
  const log2Scale = Math.log2(scale.low);
  if (!Number.isInteger(log2Scale) || log2Scale > MOST_LOG2_SCALE) return undefined;
  // What they were then is what they still are at the access.
  if (!walk.isKept(index.register) || !walk.isKept(base.register)) return undefined;
  return factor.guard === undefined ? { base, index, isSigned, log2Scale } : undefined;
}

function bitsOf(v: VectorOperands, operand: IrOperand): number {
  return operand.kind === 'register' ? typeBits(v.typeOf(operand.register)) : 0;
}

/** The instructions before one, back to the start of its block. */
class BlockWalk {
  private readonly first: number;
  /** The earliest instruction that the address was taken from. */
  private earliest: number;

  constructor(
    private readonly fn: IrFunction,
    private readonly at: number,
  ) {
    this.first = fn.blocks.find(({ first, last }) => at >= first && at <= last)?.first ?? at;
    this.earliest = at;
  }

  /** The last instruction before another that writes a register, unless only some lanes may have. */
  definition(register: number, before = this.at): IrInstruction | undefined {
    for (let index = before - 1; index >= this.first; index--) {
      const instruction = this.fn.instructions[index];
      if (instruction === undefined || !writtenRegisters(instruction).includes(register)) continue;
      if (instruction.guard !== undefined) return undefined;
      this.earliest = Math.min(this.earliest, index);
      return instruction;
    }
    return undefined;
  }

  /** Whether nothing has written a register since the earliest of the definitions. */
  isKept(register: number): boolean {
    for (let index = this.earliest; index < this.at; index++) {
      const instruction = this.fn.instructions[index];
      if (instruction !== undefined && writtenRegisters(instruction).includes(register)) return false;
    }
    return true;
  }
}
