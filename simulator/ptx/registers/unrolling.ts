import { readRegisters } from '../analysis/registerUse.js';
import type { IrBlock, IrFunction, IrInstruction } from '../ir.js';
import type { MachineCode } from './machineCode.js';
import type { Region } from './regions.js';

/** Bodies of loops that the assembler lays out in a row. */
const COPIES = 4;
/** Most operations of a body that it does so with. */
const UNROLLED_OPS = 60;
/** Copies between registers to look through for the step of a counter. */
const MOST_COPIES = 3;

/** How often the assembler lays a region out in a row: more than once when it is a loop of one block that counts by a constant. */
export function unrolling(fn: IrFunction, start: number, region: Region, code: MachineCode): number {
  const block = fn.blocks[start];
  const isLoop = region.blocks.length === 1 && region.successors.includes(start);
  if (block === undefined || !isLoop || code.notUnrolled.has(start)) return 1;
  return region.ops.length <= UNROLLED_OPS && countsSimply(fn, block) ? COPIES : 1;
}

function countsSimply(fn: IrFunction, block: IrBlock): boolean {
  const branch = fn.instructions[block.last];
  const compare = branch?.guard === undefined ? undefined : writerIn(fn, block, branch.guard.register);
  if (compare?.opcode !== 'setp') return false;
  const writers = readRegisters(compare).map((register) => counterStep(fn, block, register));
  const steps = writers.filter((writer) => writer !== undefined);
  return steps.length === 1 && steps.every(isConstantStep);
}

function isConstantStep({ opcode, sources }: IrInstruction): boolean {
  return /^(add|sub)$/.test(opcode) && sources[1]?.kind === 'integer';
}

/** What writes a register in a loop, through copies; undefined when the loop leaves it as it is. */
function counterStep(fn: IrFunction, block: IrBlock, register: number): IrInstruction | undefined {
  let writer = writerIn(fn, block, register);
  for (let copies = 0; copies < MOST_COPIES && writer?.opcode === 'mov'; copies++) {
    const [source] = readRegisters(writer);
    const before = source === undefined ? undefined : writerIn(fn, block, source);
    if (before === undefined) break;
    writer = before;
  }
  return writer;
}

function writerIn(fn: IrFunction, { first, last }: IrBlock, register: number): IrInstruction | undefined {
  for (let at = last; at >= first; at--) {
    const instruction = fn.instructions[at];
    const [destination] = instruction?.destinations ?? [];
    if (destination?.kind === 'register' && destination.register === register) return instruction;
  }
  return undefined;
}
