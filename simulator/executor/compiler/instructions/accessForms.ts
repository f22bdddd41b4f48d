import { type IrFunction, type IrInstruction, isCopy, typeBytes } from '../../../ptx/index.js';
import { spaceOf } from './instructionClass.js';

/** Bytes that one thread moves with a load, store or atomic. */
export function accessBytes(instruction: IrInstruction): number {
  if (isCopy(instruction.opcode)) {
    const size = instruction.sources[2];
    return size?.kind === 'integer' ? size.low : 0;
  }
  const type = instruction.types.at(-1) ?? 'b32';
  const vector = instruction.modifiers.find((modifier) => /^v[248]$/.test(modifier));
  return typeBytes(type) * Number(vector?.slice(1) ?? 1);
}

/** Byte counters of accesses whose guard or generic address decides when they count. */
export type DynamicBytes = 'globalLoad' | 'globalStore' | 'shared';

/** Whether the bytes of an access are counted where it happens instead of by its place in the kernel. */
export function countsDynamically(instruction: IrInstruction): boolean {
  if (isCopy(instruction.opcode)) return true;
  return instruction.guard !== undefined || spaceOf(instruction.modifiers) === 'generic';
}

const genericParams = new WeakMap<IrFunction, boolean>();

/** Whether a kernel makes generic addresses of its parameters. */
export function makesGenericParams(fn: IrFunction): boolean {
  let makes = genericParams.get(fn);
  if (makes === undefined) {
    makes = fn.instructions.some(
      ({ opcode, modifiers }) => opcode === 'cvta' && spaceOf(modifiers) === 'param',
    );
    genericParams.set(fn, makes);
  }
  return makes;
}
