import { isPlainLoad, writesMemory } from '../isa/index.js';
import type { IrFunction, IrInstruction } from '../ir.js';
import { typeBits } from '../scalarTypes.js';
import { registerUses } from './registerUses.js';

/**
 * Results that never lie in registers of their own: constants, copies, negations, widened indices, and scaled indices and
 * distances that an address or a multiply-add takes in. Given by what they are made of; their widths become 0.
 */
export function takenIn(
  fn: IrFunction,
  writes: Uint8Array,
  widths: Uint8Array,
  uses = registerUses(fn),
): (readonly number[] | undefined)[] {
  const readers = readersOf(fn, uses.reads);
  const parts: (readonly number[] | undefined)[] = fn.registers.map(() => undefined);
  for (const instruction of fn.instructions) {
    const [register] = uses.writes[instruction.index] ?? [];
    if (register === undefined || writes[register] !== 1 || widths[register] === 0) continue;
    const sources = uses.reads[instruction.index] ?? [];
    const isConstant =
      instruction.opcode === 'mov' && sources.length === 0 && instruction.sources[0]?.kind !== 'special';
    if (!isConstant && !isTakenIn(instruction, readers[register] ?? [])) continue;
    // A source that is written again may hold another value where the result is read.
    if (sources.some((source) => writes[source] !== 1 && (widths[source] ?? 0) > 0)) continue;
    parts[register] = sources.flatMap((source) => parts[source] ?? [source]);
    widths[register] = 0;
  }
  return parts;
}

function readersOf(fn: IrFunction, reads: readonly (readonly number[])[]): IrInstruction[][] {
  const readers: IrInstruction[][] = fn.registers.map(() => []);
  for (const instruction of fn.instructions)
    for (const register of reads[instruction.index] ?? []) readers[register]?.push(instruction);
  return readers;
}

function isTakenIn(instruction: IrInstruction, readers: readonly IrInstruction[]): boolean {
  const { opcode, modifiers, types, destinations, sources } = instruction;
  switch (opcode) {
    case 'mov':
    case 'cvta':
    case 'neg':
    case 'not':
      return destinations[0]?.kind === 'register' && sources[0]?.kind === 'register';
    case 'cvt':
      return types.length === 2 && /^[us]64$/.test(types[0] ?? '') && /^[us](32|16|8)$/.test(types[1] ?? '');
    case 'mul':
      return modifiers.includes('wide') && readers.every(isWideAdd);
    case 'shl':
      return types[0] === 'b64' && readers.every(isWideAdd);
    case 'add':
      return (
        sources[1]?.kind === 'integer' &&
        typeBits(types[0] ?? 'b32') === 64 &&
        readers.every(({ opcode: reader }) => isPlainLoad(reader) || writesMemory(reader))
      );
    default:
      return false;
  }
}

function isWideAdd({ opcode, types }: IrInstruction): boolean {
  return opcode === 'add' && /^[us]64$/.test(types[0] ?? '');
}
