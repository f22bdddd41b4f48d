import { typeBits, type IrInstruction, type IrOperand, type ScalarType } from '../../../../ptx/index.js';
import type { InstructionEmitter, OperandEmitter } from '../../scalar/index.js';
import { wasmTypeOf } from '../../instructions/index.js';
import { VectorOperands } from '../operands/index.js';
import { vectorEmitter } from './vectorEmitter.js';

const extracts = {
  i32: 'i32x4ExtractLane',
  f32: 'f32x4ExtractLane',
  i64: 'i64x2ExtractLane',
  f64: 'f64x2ExtractLane',
} as const;

/** Vector code's view of scalar registers: all are the same in all lanes, and the first lane is kept. */
class OneLane extends VectorOperands {
  constructor(scalar: OperandEmitter) {
    super(1, scalar, {
      shapes: [],
      exact: new Uint8Array(),
      firstLane: -1,
      pushLaneSpecial: () => {
        throw new RangeError('no lane is looked at alone');
      },
      pushSymbol: () => {
        throw new RangeError('no lane is looked at alone');
      },
    });
  }

  override assign(operand: IrOperand | undefined, type: ScalarType, _group: number, half: 0 | 1 = 0): void {
    if (half === 1) {
      this.f.op('drop');
      return;
    }
    this.f.simdLane(extracts[wasmTypeOf(type)], 0);
    if (type === 'pred') this.f.i32(1).op('i32And');
    this.scalar.assign(operand, type);
  }
}

/** Scalar code of what only vector code knows how to write: one lane of it. */
export function oneLaneEmitter(
  instruction: IrInstruction,
  fusesMultiplyAdd: boolean,
): InstructionEmitter | undefined {
  const emitter = vectorEmitter(instruction, fusesMultiplyAdd);
  if (emitter === undefined || typeBits(instruction.types.at(-1) ?? 'b32') > 64) return undefined;
  return (emit, each) => {
    emitter(new OneLane(emit), each);
  };
}
