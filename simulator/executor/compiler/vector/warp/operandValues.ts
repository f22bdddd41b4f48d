import type { IrInstruction, IrOperand, ScalarType } from '../../../../ptx/index.js';
import type { FunctionBuilder, WasmType } from '../../../wasm/index.js';
import type { VectorOperands } from '../vectorOperands.js';
import { writeToExchange } from './contextValues.js';
import { WARP_GROUPS, type LanePlace, type WarpResult, type WarpValues } from './warpValues.js';

/** Values of a warp that goes through a region as one chunk: in registers. */
export class OperandValues implements WarpValues {
  readonly f: FunctionBuilder;

  /** @param contexts local with the address of the warp's contexts. */
  constructor(
    private readonly v: VectorOperands,
    private readonly contexts: number,
    private readonly instruction: IrInstruction,
  ) {
    if (v.groups !== WARP_GROUPS) throw new RangeError(`a chunk of ${v.width} lanes is not a warp`);
    this.f = v.f;
  }

  temporary(name: string, type: WasmType): number {
    return this.v.temporary(name, type);
  }

  use(operand: IrOperand | undefined, type: 'b32' | 'pred', group: number): void {
    this.v.use(operand, type, group, 0, true);
  }

  useHalf(operand: IrOperand | undefined, group: number, half: 0 | 1): void {
    this.v.use(operand, 'b64', group, half, true);
  }

  place(operand: IrOperand | undefined, type: 'b32' | 'b64'): LanePlace {
    return writeToExchange(this, this.contexts, operand, type);
  }

  give(which: WarpResult, group: number): void {
    const destination = this.destination(which);
    if (destination === undefined) this.f.op('drop');
    else this.v.assign(destination, this.type(which), group);
  }

  giveUniform(which: WarpResult): void {
    const { f, v } = this;
    const destination = this.destination(which);
    if (destination === undefined) f.op('drop');
    else if (v.shapeOf(destination).kind === 'uniform') v.scalar.assign(destination, this.type(which));
    else {
      const given = v.temporary('given', 'i32');
      f.set(given);
      for (let group = 0; group < v.groups; group++) {
        f.get(given);
        v.splat(this.type(which));
        v.assign(destination, this.type(which), group);
      }
    }
  }

  private destination(which: WarpResult): IrOperand | undefined {
    const [destination] = this.instruction.destinations;
    if (destination?.kind !== 'pair') return which === 'value' ? destination : undefined;
    return which === 'value' ? destination.first : destination.second;
  }

  private type(which: WarpResult): ScalarType {
    if (which === 'predicate') return 'pred';
    const { opcode, modifiers } = this.instruction;
    return opcode === 'vote' && !modifiers.includes('ballot') ? 'pred' : 'b32';
  }
}
