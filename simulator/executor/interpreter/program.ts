import type { IrFunction, IrInstruction } from '../../ptx/index.js';
import { classOf } from '../compiler/instructionClass.js';
import { layoutLocal, layoutShared, sharedBytesOf } from '../module/index.js';
import type { ExecutorLaunch, InstructionClass } from '../types.js';
import { LaneFault } from './faults.js';
import type { LaneEffect } from './laneInstructions.js';
import { laneInstruction } from './laneInstructions.js';
import type { OperandReader, SymbolAddress } from './operands.js';
import { operandReader } from './operands.js';
import type { WarpOperation } from './warpOperations.js';
import { warpOperation } from './warpOperations.js';

/** An instruction made ready to step. */
export interface ProgramStep {
  readonly instruction: IrInstruction;
  readonly class: InstructionClass;
  readonly guard: IrInstruction['guard'];
  readonly action:
    | { readonly kind: 'lanes'; readonly effect: LaneEffect }
    | { readonly kind: 'branch'; readonly target: number }
    | { readonly kind: 'exit' }
    | { readonly kind: 'trap' }
    | { readonly kind: 'barrier'; readonly id: OperandReader; readonly isAligned: boolean }
    | { readonly kind: 'warp'; readonly operation: WarpOperation }
    | { readonly kind: 'activeMask'; readonly effect: LaneEffect }
    | { readonly kind: 'nothing' }
    /** Something that no supported function holds: told when it is reached. */
    | { readonly kind: 'unsupported'; readonly reason: string };
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
  return (name) => local.get(name) ?? shared.get(name) ?? parameters.get(name) ?? module.symbols.get(name);
}

export function makeProgram(launch: ExecutorLaunch): Program {
  const { kernel } = launch;
  const symbols = symbolAddresses(launch);
  return {
    fn: kernel,
    steps: kernel.instructions.map((instruction) => makeStep(instruction, kernel, symbols)),
    sharedBytes: sharedBytesOf(layoutShared(launch.module.ir, kernel), launch.shape.dynamicSharedBytes),
    localBytes: layoutLocal(kernel).bytes,
  };
}

function makeStep(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): ProgramStep {
  return {
    instruction,
    class: classOf(instruction),
    guard: instruction.guard,
    action: makeAction(instruction, fn, symbols),
  };
}

function makeAction(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): ProgramStep['action'] {
  try {
    return tryAction(instruction, fn, symbols);
  } catch (error) {
    if (error instanceof LaneFault) return { kind: 'unsupported', reason: error.message };
    throw error;
  }
}

function tryAction(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): ProgramStep['action'] {
  const { opcode, modifiers, sources } = instruction;
  switch (opcode) {
    case 'bra': {
      const label = sources[0];
      const block = label?.kind === 'label' ? fn.blocks[label.block] : undefined;
      if (block === undefined) return { kind: 'unsupported', reason: 'a branch without a target' };
      return { kind: 'branch', target: block.first };
    }
    case 'ret':
    case 'exit':
      return { kind: 'exit' };
    case 'trap':
      return { kind: 'trap' };
    case 'membar':
    case 'fence':
    case 'nanosleep':
    case 'prefetch':
      return { kind: 'nothing' };
    case 'bar':
    case 'barrier': {
      if (modifiers.includes('warp')) break;
      const id = sources[0];
      if (id === undefined) return { kind: 'unsupported', reason: 'a barrier without a number' };
      const isAligned = opcode === 'bar' || modifiers.includes('aligned');
      return { kind: 'barrier', id: operandReader(id, 'u32', symbols), isAligned };
    }
    default:
  }
  const operation = warpOperation(instruction, fn, symbols);
  if (operation !== undefined) return { kind: 'warp', operation };
  const effect = laneInstruction(instruction, fn, symbols);
  if (effect === undefined) return { kind: 'unsupported', reason: `${opcode} is not supported` };
  return { kind: opcode === 'activemask' ? 'activeMask' : 'lanes', effect };
}
