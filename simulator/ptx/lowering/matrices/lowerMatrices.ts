import { eachFunction } from '../eachFunction.js';
import type { IrFunction, IrInstruction, IrModule, IrRegister } from '../../ir.js';
import { isa } from '../../isa/index.js';
import { typeBits } from '../../scalarTypes.js';
import { replaceInstructions, type NewInstruction } from '../replacement.js';
import { integer } from '../../literals.js';
import { MatrixCode, type LanePlace } from './code.js';
import { carryFragment } from './fragments.js';
import { carryRows } from './rows.js';

/**
 * Makes plain loads and stores of what carries matrices between memory and the registers of a warp, each of the place that the lane's part
 * has there (as a card's assembler does of `wmma`; `ldmatrix` and `stmatrix` tell lanes first where the rows lie that others point to), so
 * that all that follows memory sees them. Products remain, those of `wmma` as `mma`.
 */
export function lowerMatrices(ir: IrModule): IrModule {
  return eachFunction(ir, lowerFunction);
}

function lowerFunction(fn: IrFunction): IrFunction {
  const carrying = fn.instructions.filter(({ opcode }) => isa(opcode).effects.kind === 'matrix');
  if (carrying.length === 0) return fn;
  const added: IrRegister[] = [];
  const add = (register: IrRegister): number => {
    const number = fn.registers.length + added.length;
    added.push({ ...register, name: `%matrix${number}` });
    return number;
  };
  const replacements = new Map<number, readonly NewInstruction[]>();
  const [first] = fn.instructions;
  const head = new MatrixCode({ line: first?.line ?? 0 }, add);
  const place = lanePlace(head);
  for (const instruction of carrying) {
    const code = new MatrixCode(instruction, add);
    lower(instruction, code, place, fn);
    replacements.set(instruction.index, code.instructions);
  }
  const begins = replacements.get(0) ?? (first === undefined ? [] : [first]);
  replacements.set(0, [...head.instructions, ...begins]);
  return replaceInstructions(fn, replacements, added);
}

function lanePlace(code: MatrixCode): LanePlace {
  const lane = code.compute('mov.u32', 'b32', { kind: 'special', name: 'laneid' });
  return {
    group: code.compute('shr.u32', 'b32', lane, integer(2)),
    own: code.compute('and.b32', 'b32', lane, integer(3)),
  };
}

function lower(instruction: IrInstruction, code: MatrixCode, place: LanePlace, fn: IrFunction): void {
  const { opcode, modifiers, destinations, sources } = instruction;
  const bitsOf = (register: number): number => typeBits(fn.registers[register]?.type ?? 'b64');
  if (opcode === 'wmma' && modifiers[0] === 'mma')
    code.act(['mma', 'wmma', ...modifiers].join('.'), destinations, sources);
  else if (opcode === 'wmma') carryFragment(instruction, code, place, bitsOf);
  else carryRows(instruction, code, bitsOf);
}
