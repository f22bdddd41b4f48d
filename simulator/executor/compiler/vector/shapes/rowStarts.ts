import {
  writtenRegisters,
  type IrFunction,
  type IrInstruction,
  type IrOperand,
} from '../../../../ptx/index.js';
import { immediateOf } from '../../instructions/index.js';

const ROW = 32;
/** Expressions deeper than this are not looked into. */
const MOST_STEPS = 12;

/**
 * Whether lane 0 of a chunk may be expected to hold a multiple of 32, or of the chunk's width: `%tid.x`, and that plus
 * multiples of the block's width. Code that counts on it checks it: a wrong guess costs time.
 */
export function startsRow(fn: IrFunction, operand: IrOperand | undefined, steps = MOST_STEPS): boolean {
  if (operand === undefined || steps === 0) return false;
  const constant = immediateOf(operand);
  if (constant !== undefined) return constant % ROW === 0;
  if (operand.kind === 'special') return /^(?:tid\.x|ntid\.x|laneid)$/.test(operand.name);
  if (operand.kind !== 'register') return false;
  const definition = definitionsOf(fn)[operand.register];
  if (definition === undefined || definition === 'several') return false;
  const [a, b, c] = definition.sources;
  const of = (source: IrOperand | undefined): boolean => startsRow(fn, source, steps - 1);
  switch (definition.opcode) {
    case 'mov':
      return of(a);
    case 'add':
    case 'sub':
      return of(a) && of(b);
    case 'mul':
      return of(a) || of(b);
    case 'mad':
      return (of(a) || of(b)) && of(c);
    case 'shl':
      return of(a) || (immediateOf(b) ?? 0) >= 5;
    default:
      return false;
  }
}

type Definition = IrInstruction | 'several' | undefined;

const definitions = new WeakMap<IrFunction, readonly Definition[]>();

/** By register, the only instruction that writes it. */
function definitionsOf(fn: IrFunction): readonly Definition[] {
  const known = definitions.get(fn);
  if (known !== undefined) return known;
  const found: Definition[] = fn.registers.map(() => undefined);
  for (const instruction of fn.instructions) {
    for (const register of new Set(writtenRegisters(instruction)))
      found[register] = found[register] === undefined ? instruction : 'several';
  }
  definitions.set(fn, found);
  return found;
}
