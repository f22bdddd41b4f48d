import { isSignedType, typeBits, type IrInstruction } from '../../../ptx/index.js';
import { lastType } from '../instructions/index.js';
import type { InstructionEmitter } from './integerEmitter.js';
import type { OperandEmitter } from './operandEmitter.js';

/**
 * `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`: sums of two addends and what the condition code holds, which takes
 * the carry out. A card subtracts by adding the complement, so that after `sub.cc` it is 1 where nothing was borrowed.
 */

/** What is added before the carry: whether the second addend is complemented, and what comes in when none is read. */
export function carryForm(instruction: IrInstruction): {
  readonly complements: boolean;
  readonly first: 0 | 1;
} {
  const complements = instruction.opcode.startsWith('sub');
  return { complements, first: complements ? 1 : 0 };
}

/** Leaves the part of the product that `mad` adds to. */
function pushProduct(emit: OperandEmitter, instruction: IrInstruction): void {
  const { f } = emit;
  const type = lastType(instruction);
  const isHigh = instruction.modifiers.includes('hi');
  const sign = isSignedType(type) ? 'S' : 'U';
  const wide = typeBits(type) === 64;
  for (const source of instruction.sources.slice(0, 2)) {
    emit.use(source, type);
    if (isHigh && !wide) f.op(`i64ExtendI32${sign}`);
  }
  if (!isHigh) f.op(wide ? 'i64Mul' : 'i32Mul');
  else if (wide) f.call(emit.library.index(`mulHigh${sign}64`));
  else f.op('i64Mul').i64(32).op('i64ShrU').op('i32WrapI64');
}

export const carryEmitter: InstructionEmitter = (emit, instruction) => {
  const { f } = emit;
  const { carry, opcode, sources } = instruction;
  const type = lastType(instruction);
  const width = typeBits(type) === 64 ? 'i64' : 'i32';
  const { complements, first } = carryForm(instruction);
  const addend = emit.temporary('addend', width);
  const sum = emit.temporary('sum', width);
  const total = emit.temporary('total', width);
  const isProduct = opcode.startsWith('mad');
  const constant = (value: number): void => {
    if (width === 'i64') f.i64(value);
    else f.i32(value);
  };
  if (isProduct) pushProduct(emit, instruction);
  else emit.use(sources[0], type);
  emit.use(sources[isProduct ? 2 : 1], type);
  if (complements) {
    constant(-1);
    f.op(`${width}Xor`);
  }
  f.tee(addend).op(`${width}Add`).tee(sum);
  if (carry?.reads === true) {
    f.get(emit.localOf(carry.register));
    if (width === 'i64') f.op('i64ExtendI32U');
  } else constant(first);
  f.op(`${width}Add`).set(total).get(total);
  emit.assign(instruction.destinations[0], type);
  if (carry?.writes !== true) return;
  // At most one of the two additions carries.
  f.get(sum).get(addend).op(`${width}LtU`).get(total).get(sum).op(`${width}LtU`).op('i32Or');
  f.set(emit.localOf(carry.register));
};
