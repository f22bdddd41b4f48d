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
  /** Served by the wider load that the assembler makes of it and its neighbour: costs nothing of its own. */
  readonly isMerged: boolean;
}

const MEMORY = new Set(['ld', 'ldu', 'st', 'atom', 'red']);

export function instructionPlans(kernel: IrFunction, latency: DeviceTiming['latency']): InstructionPlan[] {
  const firsts = new Set(kernel.blocks.map((block) => block.first));
  const merged = mergedLoads(kernel);
  return kernel.instructions.map((instruction) => {
    const plan = planOf(instruction, firsts.has(instruction.index), latency);
    if (!merged.has(instruction.index)) return plan;
    return { ...plan, cost: { ...plan.cost, slots: 0 }, isMerged: true };
  });
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
    isMerged: false,
    isMemory: MEMORY.has(instruction.opcode) && !instruction.modifiers.includes('param'),
  };
}

/**
 * Shared loads that become part of a 16-byte load: the assembler knows how shared variables are aligned, and joins
 * loads of one basic block at consecutive offsets from one register.
 */
function mergedLoads(kernel: IrFunction): Set<number> {
  const merged = new Set<number>();
  for (const block of kernel.blocks) {
    const loads = new Map<string, number>();
    for (let index = block.first; index <= block.last; index++) {
      const instruction = kernel.instructions[index];
      const place = sharedLoadPlace(instruction);
      if (place === undefined) continue;
      loads.set(`${place.base}:${place.offset}`, index);
      const within = ((place.offset % WIDE_LOAD_BYTES) + WIDE_LOAD_BYTES) % WIDE_LOAD_BYTES;
      if (within !== 0 && loads.has(`${place.base}:${place.offset - within}`)) merged.add(index);
    }
  }
  return merged;
}

const WIDE_LOAD_BYTES = 16;

function sharedLoadPlace(instruction: IrInstruction): { base: string; offset: number } | undefined {
  if (instruction.opcode !== 'ld' || !instruction.modifiers.includes('shared')) return undefined;
  const type = instruction.types.at(-1);
  if (type !== 'f32' && type !== 'u32' && type !== 's32' && type !== 'b32') return undefined;
  const address = instruction.sources.find((source) => source.kind === 'address');
  if (address?.kind !== 'address' || instruction.guard !== undefined) return undefined;
  return { base: String(address.base), offset: address.offset };
}
