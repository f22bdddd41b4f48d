import { readRegisters, writtenRegisters, type IrFunction, type IrInstruction } from '../../ptx/index.js';
import type { DeviceTiming } from '../profiles/index.js';
import { SM_RESOURCES } from './blockWork.js';
import { machineCost, type MachineCost } from './machineCosts.js';

/** What the tracer must know of an instruction, worked out once a kernel. */
export interface InstructionPlan {
  readonly cost: MachineCost;
  /** Index in SM_RESOURCES of the pipe, -1 without one. */
  readonly pipeIndex: number;
  readonly reads: readonly number[];
  readonly writes: readonly number[];
  readonly startsBasicBlock: boolean;
  readonly isBarrier: boolean;
  readonly isBranch: boolean;
  /** Memory accesses whose results arrive later than the instruction's own latency says. */
  readonly isMemory: boolean;
}

const MEMORY = new Set(['ld', 'ldu', 'st', 'atom', 'red']);

export function instructionPlans(kernel: IrFunction, latency: DeviceTiming['latency']): InstructionPlan[] {
  const firsts = new Set(kernel.blocks.map((block) => block.first));
  return kernel.instructions.map((instruction) =>
    planOf(instruction, firsts.has(instruction.index), latency),
  );
}

function planOf(
  instruction: IrInstruction,
  startsBasicBlock: boolean,
  latency: DeviceTiming['latency'],
): InstructionPlan {
  const cost = machineCost(instruction, latency);
  return {
    cost,
    pipeIndex: cost.pipe === undefined ? -1 : SM_RESOURCES.indexOf(cost.pipe),
    reads: readRegisters(instruction),
    writes: writtenRegisters(instruction),
    startsBasicBlock,
    isBarrier: instruction.opcode === 'bar' || instruction.opcode === 'barrier',
    isBranch: instruction.opcode === 'bra' || instruction.opcode === 'brx',
    isMemory: MEMORY.has(instruction.opcode) && !instruction.modifiers.includes('param'),
  };
}
