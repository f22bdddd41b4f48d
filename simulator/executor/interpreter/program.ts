import { changesNoValue, controlEffect, isa, isBarrier, isCopy, isStore } from '../../ptx/index.js';
import type { IrFunction, IrInstruction, IrOperand } from '../../ptx/index.js';
import { meetsInCluster } from '../clusters.js';
import { accessBytes, classOf } from '../compiler/instructions/index.js';
import { functionAddress, layoutLocal, layoutShared, sharedBytesOf } from '../module/index.js';
import type { ExecutorLaunch, FaultCode, InstructionClass } from '../types.js';
import type { BarrierForm } from './barriers.js';
import { LaneFault } from './faults.js';
import type { LaneEffect } from './laneInstructions.js';
import { laneInstruction } from './laneInstructions.js';
import type { OperandReader, OperandWriter, SymbolAddress } from './operands.js';
import { addressReader, operandReader, operandWriter } from './operands.js';
import type { SlicePart } from './addressSlice.js';
import { storesInOrder, warpPlace } from './warpAccesses.js';
import { warpEffect, type WarpEffect } from './warpEffects.js';
import type { WarpOperation } from './warpOperations.js';
import { warpOperation } from './warpOperations.js';

/** An instruction made ready to step. */
export interface ProgramStep {
  readonly instruction: IrInstruction;
  readonly class: InstructionClass;
  readonly guard: IrInstruction['guard'];
  readonly action:
    /** `together` does for many lanes at once what `effect` does for one. */
    | { readonly kind: 'lanes'; readonly effect: LaneEffect; readonly together: WarpEffect | undefined }
    | { readonly kind: 'branch'; readonly target: number }
    | { readonly kind: 'branchTable'; readonly index: OperandReader; readonly targets: readonly number[] }
    | { readonly kind: 'exit' }
    | BarrierAction
    /** At the barrier of the cluster. */
    | { readonly kind: 'clusterArrive' }
    | { readonly kind: 'clusterWait'; readonly isAligned: boolean }
    | { readonly kind: 'warp'; readonly operation: WarpOperation }
    | { readonly kind: 'nothing' }
    /** A trap, or something that no supported function holds: told when it is reached. */
    | { readonly kind: 'stop'; readonly code: FaultCode; readonly message: string };
}

/** A barrier of the block. */
export interface BarrierAction {
  readonly kind: 'barrier';
  readonly id: OperandReader;
  /** Threads that open it; all of the block without one. */
  readonly count: OperandReader | undefined;
  readonly form: BarrierForm;
  readonly reduction: { readonly predicate: OperandReader; readonly write: OperandWriter } | undefined;
}

/** A kernel made ready for one launch: its instructions and where its variables lie. */
export interface Program {
  readonly fn: IrFunction;
  readonly steps: readonly ProgramStep[];
  readonly sharedBytes: number;
  readonly localBytes: number;
}

/** The addresses that names have in one launch, each in its own state space. */
function symbolAddresses(launch: ExecutorLaunch): SymbolAddress {
  const { module, kernel } = launch;
  const shared = layoutShared(module.ir, kernel).offsets;
  const local = layoutLocal(kernel).offsets;
  const parameters = new Map(kernel.parameters.map(({ name, offset }) => [name, offset]));
  const address = (name: string): number | undefined =>
    local.get(name) ??
    shared.get(name) ??
    parameters.get(name) ??
    module.symbols.get(name) ??
    functionAddress(module.ir, name);
  if (!meetsInCluster(kernel)) return address;
  return Object.assign(address, { isRanked: (name: string) => !local.has(name) && shared.has(name) });
}

const slicedPrograms = new WeakMap<ExecutorLaunch, { slice: readonly SlicePart[]; program: Program }>();

/**
 * What runs for a launch. The one in part is kept as long as the launch is there: a trace runs one block after another.
 * @param slice how much of each instruction to run, if not all of it
 */
export function programOf(launch: ExecutorLaunch, slice?: readonly SlicePart[]): Program {
  if (slice === undefined) return makeProgram(launch);
  const known = slicedPrograms.get(launch);
  if (known?.slice === slice) return known.program;
  const program = makeProgram(launch, slice);
  slicedPrograms.set(launch, { slice, program });
  return program;
}

function makeProgram(launch: ExecutorLaunch, slice?: readonly SlicePart[]): Program {
  const { kernel } = launch;
  const symbols = symbolAddresses(launch);
  return {
    fn: kernel,
    steps: kernel.instructions.map((instruction, index) =>
      makeStep(instruction, kernel, symbols, slice?.[index] ?? 'whole'),
    ),
    sharedBytes: sharedBytesOf(layoutShared(launch.module.ir, kernel), launch.shape.dynamicSharedBytes),
    localBytes: layoutLocal(kernel).bytes,
  };
}

function makeStep(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
  part: SlicePart,
): ProgramStep {
  return {
    instruction,
    class: classOf(instruction),
    guard: instruction.guard,
    action: partOf(makeAction(instruction, fn, symbols), instruction, fn, symbols, part),
  };
}

/** What is not supported stays so. */
function partOf(
  action: ProgramStep['action'],
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
  part: SlicePart,
): ProgramStep['action'] {
  if (part === 'whole' || action.kind !== 'lanes') return action;
  if (part === 'nothing') return { kind: 'nothing' };
  const place = warpPlace(instruction, fn, symbols);
  return place === undefined
    ? action
    : { kind: 'lanes', effect: (context, lane) => place(context, 1 << lane), together: place };
}

function makeAction(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): ProgramStep['action'] {
  try {
    return tryAction(instruction, fn, symbols);
  } catch (error) {
    if (error instanceof LaneFault) return unsupported(error.message);
    throw error;
  }
}

function unsupported(message: string): ProgramStep['action'] {
  return { kind: 'stop', code: 'unsupportedInstruction', message };
}

function tryAction(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): ProgramStep['action'] {
  const { opcode, modifiers, sources } = instruction;
  if (changesNoValue(opcode)) return { kind: 'nothing' };
  switch (controlEffect(opcode)) {
    case 'branch': {
      const [target] = labelTargets(sources, fn);
      return target === undefined ? unsupported('a branch without a target') : { kind: 'branch', target };
    }
    case 'switch': {
      const [index] = sources;
      if (index === undefined) return unsupported('a branch without an index');
      return {
        kind: 'branchTable',
        index: operandReader(index, 'u32', symbols),
        targets: labelTargets(sources.slice(1), fn),
      };
    }
    case 'return':
    case 'exit':
      return { kind: 'exit' };
    case 'trap':
      return { kind: 'stop', code: trapCode(modifiers[0]), message: trapMessage(modifiers[0]) };
    case 'breakpoint':
      return { kind: 'stop', code: 'trap', message: 'the kernel executed brkpt and no debugger is there' };
    case undefined:
      break;
  }
  // A copy is done where it is issued, so that there is nothing to wait for.
  if (isCopy(opcode) && !modifiers.includes('ca') && !modifiers.includes('cg')) return { kind: 'nothing' };
  if (isBarrier(opcode) && modifiers.includes('cluster')) {
    return modifiers.includes('arrive')
      ? { kind: 'clusterArrive' }
      : { kind: 'clusterWait', isAligned: modifiers.includes('aligned') };
  }
  if (isBarrier(opcode) && !modifiers.includes('warp')) return barrierAction(instruction, fn, symbols);
  const operation = warpOperation(instruction, fn, symbols);
  if (operation !== undefined) return { kind: 'warp', operation };
  const effect = laneInstruction(instruction, fn, symbols);
  if (effect === undefined) return unsupported(`${opcode} is not supported`);
  const together = warpEffect(instruction, fn, symbols);
  const stores =
    isCopy(opcode) || (isStore(opcode) && !modifiers.includes('local') && sources.slice(1).some(mayDiffer));
  if (!stores || together !== undefined) return { kind: 'lanes', effect, together };
  const [place = { kind: 'sink' }] = sources;
  const address = addressReader(place, fn, symbols);
  return { kind: 'lanes', effect, together: storesInOrder(effect, address, accessBytes(instruction)) };
}

/** Whether lanes may have other values of an operand. */
function mayDiffer(operand: IrOperand): boolean {
  return operand.kind === 'vector'
    ? operand.elements.some(mayDiffer)
    : operand.kind !== 'integer' && operand.kind !== 'float';
}

const trapMessages: Partial<Record<FaultCode, string>> = {
  trap: 'the kernel executed trap',
  assertion: 'an assertion of the kernel failed',
  stackOverflow: 'calls are nested deeper than the stack of a thread holds',
  illegalInstruction: 'the kernel called what is no function',
  unsupportedInstruction: 'the kernel called a function that is not supported',
};

/** Lowered code traps for reasons of its own, which it names by a modifier. */
function trapCode(modifier: string | undefined): FaultCode {
  return modifier !== undefined && Object.hasOwn(trapMessages, modifier) ? (modifier as FaultCode) : 'trap';
}

function trapMessage(modifier: string | undefined): string {
  return trapMessages[trapCode(modifier)] ?? 'the kernel executed trap';
}

/** First instructions of the blocks that labels name, alone or in a list. */
function labelTargets(operands: readonly IrOperand[], fn: IrFunction): number[] {
  return operands.flatMap((operand) => {
    if (operand.kind === 'vector') return labelTargets(operand.elements, fn);
    const block = operand.kind === 'label' ? fn.blocks[operand.block] : undefined;
    return block === undefined ? [] : [block.first];
  });
}

function barrierAction(
  { opcode, modifiers, sources, destinations }: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): ProgramStep['action'] {
  const reduction = (['popc', 'and', 'or'] as const).find((each) => modifiers.includes(each));
  const [id, ...others] = sources;
  const predicate = reduction === undefined ? undefined : others.pop();
  const [count] = others;
  const [result] = destinations;
  if (id === undefined) return unsupported('a barrier without a number');
  return {
    kind: 'barrier',
    id: operandReader(id, 'u32', symbols),
    count: count === undefined ? undefined : operandReader(count, 'u32', symbols),
    form: {
      isAligned: isa(opcode).effects.isAligned || modifiers.includes('aligned'),
      waits: !modifiers.includes('arrive'),
      reduction,
    },
    reduction:
      predicate === undefined || result === undefined
        ? undefined
        : {
            predicate: operandReader(predicate, 'pred', symbols),
            write: operandWriter(result, reduction === 'popc' ? 'u32' : 'pred', fn),
          },
  };
}
