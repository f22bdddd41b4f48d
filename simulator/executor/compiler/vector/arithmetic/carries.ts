import type { IrInstruction, IrOperand } from '../../../../ptx/index.js';
import { isSignedType } from '../../../../ptx/index.js';
import { carryForm } from '../../scalar/index.js';
import { lastType } from '../../instructions/index.js';
import type { VectorEmitter, VectorOperands } from '../operands/index.js';
import { isWide, joinWords, keep, pushWord } from './parts.js';

/** Pushes the part of the product that `mad` adds to. */
function pushProduct(v: VectorOperands, instruction: IrInstruction, group: number): void {
  const { f } = v;
  const type = lastType(instruction);
  for (const source of instruction.sources.slice(0, 2)) v.use(source, type, group);
  if (!instruction.modifiers.includes('hi')) {
    f.simd('i32x4Mul');
    return;
  }
  const b = keep(v, 'b');
  const a = keep(v, 'a');
  for (const part of ['Low', 'High'] as const)
    f.get(a)
      .get(b)
      .simd(`i64x2Extmul${part}I32x4${isSignedType(type) ? 'S' : 'U'}`);
  joinWords(v, 'upper');
}

/** Sums of 32 bits with the condition code, which is a predicate's mask. */
const carrying: VectorEmitter = (v, instruction) => {
  const { f } = v;
  const { carry, opcode, sources } = instruction;
  const type = lastType(instruction);
  const { complements, first } = carryForm(instruction);
  const isProduct = opcode.startsWith('mad');
  const code: IrOperand | undefined = carry && { kind: 'register', register: carry.register };
  const [addend, sum] = [v.temporary('addend', 'v128'), v.temporary('sum', 'v128')];
  for (let group = 0; group < v.groups; group++) {
    if (isProduct) pushProduct(v, instruction, group);
    else v.use(sources[0], type, group);
    v.use(sources[isProduct ? 2 : 1], type, group);
    if (complements) f.simd('v128Not');
    f.tee(addend).simd('i32x4Add').tee(sum);
    if (carry?.reads === true) v.use(code, 'pred', group);
    else pushWord(v, -first);
    f.simd('i32x4Sub');
    const total = keep(v, 'total');
    f.get(total);
    v.assign(instruction.destinations[0], type, group);
    if (carry?.writes !== true) continue;
    // At most one of the two additions carries.
    f.get(sum).get(addend).simd('i32x4LtU').get(total).get(sum).simd('i32x4LtU').simd('v128Or');
    v.assign(code, 'pred', group);
  }
};

export function carryVector(instruction: IrInstruction): VectorEmitter | undefined {
  return isWide(lastType(instruction)) ? undefined : carrying;
}
