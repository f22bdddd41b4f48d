import type { IrInstruction, IrOperand } from '../../../../ptx/index.js';
import type { FunctionBuilder, WasmType } from '../../../../wasm/index.js';
import { EXCHANGE, type ContextSlot, type ThreadContext } from '../../analysis/index.js';
import { WARP_GROUPS, type LanePlace, type WarpResult, type WarpValues } from './warpValues.js';

/** Bytes of four lanes of 4 bytes. */
const GROUP_BYTES = 16;

/** Values of a waiting warp: read from its contexts, given to its exchange area. */
export class ContextValues implements WarpValues {
  private readonly temporaries = new Map<string, number>();

  /** @param contexts local with the address of the warp's contexts. */
  constructor(
    readonly f: FunctionBuilder,
    private readonly context: ThreadContext,
    private readonly contexts: number,
    private readonly instruction: IrInstruction,
  ) {}

  temporary(name: string, type: WasmType): number {
    const key = `${name} ${type}`;
    let local = this.temporaries.get(key);
    if (local === undefined) {
      local = this.f.local(type);
      this.temporaries.set(key, local);
    }
    return local;
  }

  use(operand: IrOperand | undefined, type: 'b32' | 'pred', group: number): void {
    const { f } = this;
    const immediate = this.immediate(operand);
    if (immediate !== undefined) {
      const word = type === 'pred' ? -(immediate & 1) : immediate;
      f.v128(word, word, word, word);
      return;
    }
    const slot = this.slot(operand);
    f.get(this.contexts);
    if (slot.isWide) {
      f.simdMemory('v128Load', slot.offset + 2 * group * GROUP_BYTES);
      f.get(this.contexts).simdMemory('v128Load', slot.offset + (2 * group + 1) * GROUP_BYTES);
      f.shuffleWords(0, 2, 4, 6);
    } else f.simdMemory('v128Load', slot.offset + group * GROUP_BYTES);
    if (type === 'pred')
      f.v128(0, 0, 0, 0).simd(operand?.kind === 'negatedPredicate' ? 'i32x4Eq' : 'i32x4Ne');
  }

  useHalf(operand: IrOperand | undefined, group: number, half: 0 | 1): void {
    const { f } = this;
    if (operand?.kind === 'integer' || operand?.kind === 'float') {
      f.v128(operand.low, operand.high, operand.low, operand.high);
      return;
    }
    f.get(this.contexts).simdMemory('v128Load', this.slot(operand).offset + (2 * group + half) * GROUP_BYTES);
  }

  place(operand: IrOperand | undefined, type: 'b32' | 'b64'): LanePlace {
    if (operand?.kind === 'register' && this.slot(operand).isWide === (type === 'b64'))
      return { base: this.contexts, offset: this.slot(operand).offset };
    return writeToExchange(this, this.contexts, operand, type);
  }

  give(which: WarpResult, group: number): void {
    const { f } = this;
    const taken = this.temporary('given', 'v128');
    const isMask = which === 'predicate';
    if (isMask) f.simd('v128Not').i32(1).simd('i32x4Splat').simd('i32x4Add');
    f.set(taken).get(this.contexts).get(taken);
    f.simdMemory('v128Store', EXCHANGE[which] + group * GROUP_BYTES);
  }

  giveUniform(which: WarpResult): void {
    const { f } = this;
    const taken = this.temporary('given', 'v128');
    f.simd('i32x4Splat').set(taken);
    for (let group = 0; group < WARP_GROUPS; group++)
      f.get(this.contexts)
        .get(taken)
        .simdMemory('v128Store', EXCHANGE[which] + group * GROUP_BYTES);
  }

  private immediate(operand: IrOperand | undefined): number | undefined {
    return operand?.kind === 'integer' || operand?.kind === 'float' ? operand.low : undefined;
  }

  private slot(operand: IrOperand | undefined): ContextSlot {
    const slot =
      operand?.kind === 'register' || operand?.kind === 'negatedPredicate'
        ? this.context.slotOf.get(operand.register)
        : undefined;
    if (slot === undefined)
      throw new RangeError(`line ${this.instruction.line}: an operand is not kept at the wait`);
    return slot;
  }
}

/** Writes lanes' values side by side over a warp's exchange area, which holds nothing between waits. */
function writeToExchange(
  values: WarpValues,
  contexts: number,
  operand: IrOperand | undefined,
  type: 'b32' | 'b64',
): LanePlace {
  const { f } = values;
  for (let group = 0; group < WARP_GROUPS; group++) {
    if (type === 'b32') {
      f.get(contexts);
      values.use(operand, 'b32', group);
      f.simdMemory('v128Store', EXCHANGE.value + group * GROUP_BYTES);
    } else {
      for (const half of [0, 1] as const) {
        f.get(contexts);
        values.useHalf(operand, group, half);
        f.simdMemory('v128Store', EXCHANGE.value + (2 * group + half) * GROUP_BYTES);
      }
    }
  }
  return { base: contexts, offset: EXCHANGE.value };
}
