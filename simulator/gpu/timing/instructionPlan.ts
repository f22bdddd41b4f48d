import { findSpinLoops, syncScope } from '../../executor/index.js';
import {
  codeShape,
  type CodeShape,
  goesElsewhere,
  type IrFunction,
  type IrInstruction,
  isa,
  isAccess,
  isBarrier,
  isBranch,
  isFence,
  isLoad,
  isPlainLoad,
  isUpdate,
  type Opcode,
  readRegisters,
  writesMemory,
  writtenRegisters,
} from '../../ptx/index.js';
import type { DeviceTiming, TimingRule } from '../profiles/index.js';
import { registerAlignments } from './addressAlignment.js';
import { loopDecidedBy, waysOut } from './retryLoops.js';
import { SM_RESOURCES } from './blockWork.js';
import { machineCost, type MachineCost } from './machineCosts.js';

/** What the tracer must know of an instruction, worked out once a kernel. */
export interface InstructionPlan {
  readonly cost: MachineCost;
  /** Index in SM_RESOURCES of the pipe, -1 without one. */
  readonly pipeIndex: number;
  readonly reads: readonly number[];
  readonly writes: readonly number[];
  /** First of what the assembler orders as one piece. */
  readonly startsRegion: boolean;
  /** How often the loop body that it begins stands in a row. */
  readonly copies: number;
  /** Its warp waits for others of the block. */
  readonly isBarrier: boolean;
  readonly isBranch: boolean;
  /** Its result takes a register from its start on. */
  readonly isLoad: boolean;
  /** Memory accesses whose results arrive later than the instruction's own latency says. */
  readonly isMemory: boolean;
  /** Loads of the constant cache. */
  readonly isConstant: boolean;
  /** One lane does it for the warp: integers that all its threads add to one address. */
  readonly isAggregated: boolean;
  /** An atomic operation whose result is used. */
  readonly isReturned: boolean;
  /** Shared memory knows no such operation: a loop compares and swaps. */
  readonly isSwapLoop: boolean;
  readonly isFloatAtomic: boolean;
  /** Compares and swaps. */
  readonly isSwap: boolean;
  /** A compare and swap that a loop tries again: who loses the address to another must. */
  readonly isRetried: boolean;
  /** The same, but the loop also ends where what is there already makes a swap needless, as of a maximum. */
  readonly mayGiveUp: boolean;
  /** Stands in the loop of one. */
  readonly isInRetry: boolean;
  /** Stands in a loop that waits for another block. */
  readonly isInWait: boolean;
  /** Looks whether another block has done what its own waits for. */
  readonly isLook: boolean;
  /** What it waits at least until others see what its thread has written before; 0 if it need not. */
  readonly fenceCycles: number;
  /** From here on L1 holds nothing: what other multiprocessors have written must be seen. */
  readonly clearsL1: boolean;
  /** A load that asks L2, whatever L1 holds. */
  readonly isStrong: boolean;
  /** Served by the wider load that the assembler makes of it and its neighbour: costs nothing of its own. */
  readonly isMerged: boolean;
  /** Memory whose order counts for it, as an index of MEMORY_SPACES, or -1: a load stays behind stores that may change it. */
  readonly order: number;
  /** Register that its address starts from: accesses from one register are told apart by their offsets. */
  readonly base: number;
  readonly isStore: boolean;
  /** The copy engine does it. */
  readonly isEngine: boolean;
  /** Tells an mbarrier of an arrival, or of bytes. */
  readonly isArrival: boolean;
  /** Arithmetic of floats, of which the assembler interleaves little; what makes addresses it brings forward. */
  readonly isFormula: boolean;
}

/** Memory in which a store may change what a later load finds. */
export const MEMORY_SPACES = ['global', 'shared', 'local'] as const;

/** Beside accesses of memory: they move, convert, compare and choose, and calculate nothing. */
const NO_FORMULA = new Set<Opcode>(['mov', 'cvt', 'selp', 'setp']);

/** @param left rules that are left out */
export function instructionPlans(
  kernel: IrFunction,
  latency: DeviceTiming['latency'],
  left: ReadonlySet<TimingRule> = new Set(),
): InstructionPlan[] {
  const isPlain = left.has('assemblerLayout');
  const shape = isPlain ? plainShape(kernel) : codeShape(kernel, true);
  const merged = isPlain ? new Set<number>() : mergedLoads(kernel);
  const fused = isPlain ? new Set<number>() : fusedOperations(kernel);
  const blockOf = new Int32Array(kernel.instructions.length);
  for (const { index, first, last } of kernel.blocks) blockOf.fill(index, first, last + 1);
  const plans = kernel.instructions.map((instruction) => {
    const plan = planOf(kernel, instruction, blockOf[instruction.index], shape, latency);
    if (fused.has(instruction.index)) {
      return { ...plan, cost: { ...plan.cost, slots: 0, pipeOps: 0, latencyCycles: 0 } };
    }
    if (!merged.has(instruction.index)) return plan;
    return { ...plan, cost: { ...plan.cost, slots: 0 }, isMerged: true };
  });
  return withLoops(kernel, plans, blockOf);
}

/** Tells the plans of which loops that depend on others they are part. */
function withLoops(kernel: IrFunction, plans: InstructionPlan[], blockOf: Int32Array): InstructionPlan[] {
  const retried = new Set<number>();
  const givenUp = new Set<number>();
  plans.forEach(({ isRetried, writes, base }, index) => {
    const loop = isRetried ? loopDecidedBy(kernel, blockOf[index], writes[0], base) : undefined;
    for (const block of loop ?? []) retried.add(block);
    if (loop !== undefined && waysOut(kernel, loop) > 1) givenUp.add(index);
  });
  const waiting = new Set(findSpinLoops(kernel).across.flatMap((loop) => [...loop]));
  if (retried.size === 0 && waiting.size === 0) return plans;
  return plans.map((plan, index) => ({
    ...plan,
    mayGiveUp: givenUp.has(index),
    isInRetry: retried.has(blockOf[index]),
    isInWait: waiting.has(blockOf[index]),
    isLook: plan.isLoad && !plan.isConstant && waiting.has(blockOf[index]),
  }));
}

/** Code that stands as it is written: nothing unrolled, joined or taken in, and nothing known to be uniform. */
function plainShape({ blocks, registers }: IrFunction): CodeShape {
  return {
    varying: new Uint8Array(registers.length).fill(1),
    takenIn: new Uint8Array(registers.length),
    copies: new Uint8Array(blocks.length).fill(1),
    regionOf: Int32Array.from(blocks, ({ index }) => index),
  };
}

function planOf(
  kernel: IrFunction,
  instruction: IrInstruction,
  block: number,
  shape: CodeShape,
  latency: DeviceTiming['latency'],
): InstructionPlan {
  const reads = readRegisters(instruction);
  const writes = writtenRegisters(instruction);
  const isUniform = (registers: readonly number[]): boolean =>
    registers.length > 0 && registers.every((register) => shape.varying[register] === 0);
  const { first, last, successors } = kernel.blocks[block];
  const region = shape.regionOf[block];
  const cost = machineCost(instruction, latency, {
    copies: shape.copies[region],
    operands: new Set(reads.filter((register) => shape.varying[register] === 1)).size,
    isTakenIn: writes.length > 0 && writes.every((register) => shape.takenIn[register] === 1),
    isUniform: isBranch(instruction.opcode) ? isUniform(reads) : isUniform(writes),
    isGuarded:
      instruction.index === last &&
      successors.length > 0 &&
      successors.some((next) => next !== region && shape.regionOf[next] === region),
  });
  return {
    cost,
    pipeIndex: cost.pipe === undefined ? -1 : SM_RESOURCES.indexOf(cost.pipe),
    reads,
    writes,
    startsRegion: instruction.index === first && region === block,
    copies: shape.copies[region],
    isBarrier: syncScope(instruction) === 'block' && !instruction.modifiers.includes('arrive'),
    isBranch: goesElsewhere(instruction.opcode),
    isLoad: isLoad(instruction.opcode) && !instruction.modifiers.includes('param'),
    isMerged: false,
    mayGiveUp: false,
    isInRetry: false,
    isInWait: false,
    isLook: false,
    fenceCycles: fenceCycles(instruction, latency),
    clearsL1: clearsL1(instruction),
    isEngine: instruction.isEngine === true,
    isArrival: isa(instruction.opcode).cost === 'mbarrier',
    // The copy engine lies beside L1.
    isStrong: instruction.isEngine === true || isStrongLoad(instruction),
    ...orderOf(instruction),
    isFormula:
      isa(instruction.opcode).cost === 'shuffle' ||
      (calculates(instruction.opcode) && /^b?f/.test(instruction.types.at(-1) ?? '')),
    ...atomicPlan(kernel, instruction, shape, block),
    isConstant: isPlainLoad(instruction.opcode) && instruction.modifiers.includes('const'),
    isMemory: isAccess(instruction.opcode) && !instruction.modifiers.includes('param'),
  };
}

function calculates(opcode: string): boolean {
  return !isAccess(opcode) && !(NO_FORMULA as ReadonlySet<string>).has(opcode);
}

/** Fences, and what has one before it: others must see earlier writes before they see this one. */
function fenceCycles({ opcode, modifiers }: IrInstruction, latency: DeviceTiming['latency']): number {
  if (isBarrier(opcode) && modifiers.includes('cluster'))
    return modifiers.includes('wait') ? latency.clusterBarrier : 0;
  // An mbarrier's unit orders by itself.
  if (isa(opcode).cost === 'mbarrier') return 0;
  if (!isFence(opcode) && !modifiers.includes('release') && !modifiers.includes('acq_rel')) return 0;
  if (modifiers.includes('sys')) return latency.fenceSystem;
  return modifiers.some((each) => each === 'gl' || each === 'gpu') ? latency.fence : latency.fenceBlock;
}

function clearsL1({ opcode, modifiers }: IrInstruction): boolean {
  const isOrder = isFence(opcode) || modifiers.some((each) => each === 'acquire' || each === 'acq_rel');
  return isOrder && modifiers.some((each) => each === 'gl' || each === 'gpu' || each === 'sys');
}

const STRONG = /^(?:volatile|relaxed|acquire|mmio|cv)$/;

function isStrongLoad({ opcode, modifiers }: IrInstruction): boolean {
  return isPlainLoad(opcode) && modifiers.some((each) => STRONG.test(each));
}

/** Loads that say `.nc` read what nobody writes; the assembler puts those before stores that come first in the code. */
function orderOf({
  opcode,
  modifiers,
  sources,
  destinations,
}: IrInstruction): Pick<InstructionPlan, 'order' | 'base' | 'isStore'> {
  const isStore = writesMemory(opcode);
  const isFree = modifiers.some((each) => each === 'nc' || each === 'param' || each === 'const');
  if ((!isPlainLoad(opcode) && !isStore) || isFree) return { order: -1, base: -1, isStore: false };
  const space = MEMORY_SPACES.findIndex((name) => modifiers.includes(name));
  const address = [...sources, ...destinations].find((operand) => operand.kind === 'address');
  const base = address?.kind === 'address' && typeof address.base === 'number' ? address.base : -1;
  return { order: Math.max(0, space), base, isStore };
}

const AGGREGATED = /^(add|inc|dec|min|max|and|or|xor)$/;

function atomicPlan(
  kernel: IrFunction,
  { opcode, modifiers, types, sources, destinations }: IrInstruction,
  shape: CodeShape,
  block: number,
): Pick<
  InstructionPlan,
  'isAggregated' | 'isReturned' | 'isSwapLoop' | 'isFloatAtomic' | 'isSwap' | 'isRetried'
> {
  const isAtomic = isUpdate(opcode);
  const type = types.at(-1) ?? 'b32';
  const isFloat = /f16|f32|f64/.test(type);
  const address = sources.find((source) => source.kind === 'address');
  const base = address?.kind === 'address' && typeof address.base === 'number' ? address.base : -1;
  const isOneAddress = address?.kind === 'address' && (base < 0 || shape.varying[base] === 0);
  // A warp joins words of 32 bits in one instruction; wider ones only if all its lanes bring the same.
  const [, value] = sources;
  const isOneValue =
    value?.kind === 'integer' || (value?.kind === 'register' && shape.varying[value.register] === 0);
  const [result] = destinations;
  const isReturned =
    isAtomic &&
    result?.kind === 'register' &&
    kernel.instructions.some((other) => readRegisters(other).includes(result.register));
  return {
    isAggregated:
      isAtomic &&
      isOneAddress &&
      !isFloat &&
      (!/64/.test(type) || isOneValue) &&
      modifiers.some((each) => AGGREGATED.test(each)),
    isReturned,
    isSwapLoop:
      isAtomic &&
      isa(opcode).cost !== 'mbarrier' &&
      modifiers.includes('shared') &&
      (isFloat || /64/.test(type)) &&
      !modifiers.includes('cas') &&
      !modifiers.includes('exch'),
    isFloatAtomic: isFloat,
    isSwap: isAtomic && modifiers.includes('cas'),
    isRetried:
      isAtomic &&
      modifiers.includes('cas') &&
      isReturned &&
      !modifiers.includes('shared') &&
      loopDecidedBy(kernel, block, result.register, base) !== undefined,
  };
}

/**
 * Shared loads that become part of a wider load: the assembler joins loads of one basic block at consecutive offsets from one
 * register, as wide as it knows the address to be aligned.
 */
function mergedLoads(kernel: IrFunction): Set<number> {
  const merged = new Set<number>();
  const alignments = registerAlignments(kernel);
  for (const block of kernel.blocks) {
    const loads = new Map<string, number>();
    for (let index = block.first; index <= block.last; index++) {
      const instruction = kernel.instructions[index];
      const place = sharedLoadPlace(instruction);
      if (place === undefined) continue;
      loads.set(`${place.base}:${place.offset}`, index);
      const { modulus = WIDE_LOAD_BYTES, remainder = 0 } =
        (typeof place.base === 'number' ? alignments[place.base] : undefined) ?? {};
      const within = (((place.offset + remainder) % modulus) + modulus) % modulus;
      if (within !== 0 && loads.has(`${place.base}:${place.offset - within}`)) merged.add(index);
    }
  }
  return merged;
}

const WIDE_LOAD_BYTES = 16;

function sharedLoadPlace(
  instruction: IrInstruction,
): { base: number | string | undefined; offset: number } | undefined {
  if (!isPlainLoad(instruction.opcode) || !instruction.modifiers.includes('shared')) return undefined;
  const type = instruction.types.at(-1);
  if (type !== 'f32' && type !== 'u32' && type !== 's32' && type !== 'b32') return undefined;
  const address = instruction.sources.find((source) => source.kind === 'address');
  if (address?.kind !== 'address' || instruction.guard !== undefined) return undefined;
  return { base: address.base, offset: address.offset };
}

const LOGIC = /^(and|or|xor|not)$/;

/**
 * What becomes part of the next operation: the two shifts of a rotation, the first of two logic operations (the machine's
 * take three operands), and the low half of a product whose high half is asked for, too.
 */
function fusedOperations(kernel: IrFunction): Set<number> {
  const fused = new Set<number>();
  const readers = kernel.registers.map((): IrInstruction[] => []);
  for (const instruction of kernel.instructions) {
    for (const register of readRegisters(instruction)) readers[register].push(instruction);
  }
  const writers = new Map<number, IrInstruction>();
  const products = new Map<string, IrInstruction>();
  for (const instruction of kernel.instructions) {
    const { opcode, modifiers, types, index } = instruction;
    const reads = readRegisters(instruction);
    const before = reads.map((register) => {
      const writer = writers.get(register);
      return writer !== undefined && readers[register].length === 1 ? writer : undefined;
    });
    const [first, second] = before;
    const isWord = /^[busi]32$/.test(types.at(-1) ?? '');
    if (isWord && /^(or|xor|add)$/.test(opcode) && isRotation(first, second)) {
      if (first !== undefined) fused.add(first.index);
      if (second !== undefined) fused.add(second.index);
    } else if (isWord && LOGIC.test(opcode)) {
      const taken = before.find(
        (writer) =>
          writer !== undefined &&
          LOGIC.test(writer.opcode) &&
          !fused.has(writer.index) &&
          index - writer.index < 16,
      );
      if (taken !== undefined && !before.some((writer) => writer !== undefined && fused.has(writer.index)))
        fused.add(taken.index);
    }
    if (opcode === 'mul' && (modifiers.includes('hi') || modifiers.includes('lo')) && isWord) {
      const key =
        reads.join() + JSON.stringify(instruction.sources.filter((source) => source.kind === 'integer'));
      const other = products.get(key);
      if (other !== undefined && other.modifiers.includes('hi') !== modifiers.includes('hi')) {
        fused.add(modifiers.includes('lo') ? index : other.index);
      }
      products.set(key, instruction);
    }
    for (const register of writtenRegisters(instruction)) writers.set(register, instruction);
  }
  return fused;
}

function isRotation(first: IrInstruction | undefined, second: IrInstruction | undefined): boolean {
  if (first === undefined || second === undefined) return false;
  const [left, right] = first.opcode === 'shl' ? [first, second] : [second, first];
  if (left.opcode !== 'shl' || right.opcode !== 'shr') return false;
  const [a, b] = [left.sources[1], right.sources[1]];
  return (
    a?.kind === 'integer' &&
    b?.kind === 'integer' &&
    a.low + b.low === 32 &&
    readRegisters(left)[0] === readRegisters(right)[0]
  );
}
