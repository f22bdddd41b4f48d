import {
  type IrFunction,
  type IrInstruction,
  type IrOperand,
  isa,
  writtenRegisters,
} from '../../../ptx/index.js';
import { spaceOf } from '../instructions/index.js';

/**
 * What a pointer may have been made of: parameters by their offset (`param 8`), module variables by name
 * (`symbol table`), memory that belongs to a block or thread (`own`); or anything at all.
 */
export type PointerRoots = ReadonlySet<string> | 'any';

/** Memory that no other block reaches. */
export const OWN = 'own';

const NONE: ReadonlySet<string> = new Set();

/** The roots of each register's value: more than there are, never fewer. */
export function pointerRootsOf(fn: IrFunction): (operand: IrOperand | undefined) => PointerRoots {
  const roots: PointerRoots[] = fn.registers.map(() => NONE);
  const offsets = new Map(fn.parameters.map((parameter) => [parameter.name, parameter.offset]));
  const own = new Set(
    fn.variables.filter(({ space }) => space === 'shared' || space === 'local').map(({ name }) => name),
  );
  const ofOperand = (operand: IrOperand | undefined): PointerRoots => {
    if (operand?.kind === 'register') return roots[operand.register] ?? 'any';
    if (operand?.kind === 'symbol') return new Set([own.has(operand.name) ? OWN : `symbol ${operand.name}`]);
    if (operand?.kind === 'vector') return operand.elements.map(ofOperand).reduce(join, NONE);
    if (operand?.kind !== 'address' || operand.base === undefined) return NONE;
    const { base } = operand;
    return typeof base === 'number'
      ? (roots[base] ?? 'any')
      : ofOperand({ kind: 'symbol', name: base, offset: 0 });
  };
  for (let changed = true; changed;) {
    changed = false;
    for (const instruction of fn.instructions) {
      const made = resultRoots(instruction, ofOperand, offsets);
      if (made !== 'any' && made.size === 0) continue;
      for (const register of writtenRegisters(instruction)) {
        const before = roots[register] ?? 'any';
        const after = join(before, made);
        if (after === before) continue;
        roots[register] = after;
        changed = true;
      }
    }
  }
  return ofOperand;
}

/**
 * Whose roots a result has: of what moves a pointer or goes on from it, those of its operands. Products and shifts are
 * indices, and words of 32 bits are no pointers before two of them are put together.
 */
function resultRoots(
  instruction: IrInstruction,
  ofOperand: (operand: IrOperand | undefined) => PointerRoots,
  offsets: ReadonlyMap<string, number>,
): PointerRoots {
  const { opcode, modifiers, sources, types } = instruction;
  const bits = /64$/.test(types.at(-1) ?? '');
  switch (isa(opcode).pointers) {
    case 'loaded': {
      if (!bits) return NONE;
      const [address] = sources;
      const offset =
        address?.kind === 'address' && typeof address.base === 'string'
          ? offsets.get(address.base)
          : undefined;
      if (spaceOf(modifiers) !== 'param' || offset === undefined || address?.kind !== 'address') return 'any';
      // One of a vector may be any of its elements.
      const count = Number(modifiers.find((modifier) => /^v[24]$/.test(modifier))?.slice(1) ?? 1);
      const names = Array.from(
        { length: count },
        (_, index) => `param ${offset + address.offset + 8 * index}`,
      );
      return new Set(names);
    }
    case 'converted':
      if (spaceOf(modifiers) === 'shared' || spaceOf(modifiers) === 'local') return new Set([OWN]);
      return ofOperand(sources[0]);
    case 'first':
      // Halves may come from anywhere.
      return bits && sources[0]?.kind === 'vector' ? 'any' : ofOperand(sources[0]);
    case 'operands':
      return sources.map(ofOperand).reduce(join, NONE);
    case 'addend':
      return ofOperand(sources.at(-1));
    case 'any':
      return 'any';
    case 'none':
      return NONE;
  }
}

function join(a: PointerRoots, b: PointerRoots): PointerRoots {
  if (a === 'any' || b === 'any') return 'any';
  const missing = [...b].filter((root) => !a.has(root));
  return missing.length === 0 ? a : new Set([...a, ...missing]);
}
