import {
  endsThread,
  goesElsewhere,
  isBranch,
  isFetch,
  isSwitch,
  isa,
  type EffectKind,
} from '../../../ptx/index.js';
import type { IrBlock, IrInstruction, IrOperand } from '../../../ptx/index.js';
import type { Expression } from '../expressions/expression.js';
import { chosenValue } from '../expressions/selection.js';
import type { KernelContext } from '../transfer/operands.js';
import { integerBits, Operands } from '../transfer/operands.js';
import { results, unknownFor } from '../transfer/transfer.js';
import type { FoundHazard } from './findings.js';
import {
  accessesMemory,
  accessMemory,
  noteFetch,
  isTainted,
  type MemoryPlace,
  type Surroundings,
} from './memoryTransfer.js';
import type { Path } from './path.js';
import { preparedQuotient } from './preparedDivision.js';
import type { Edge, ThreadState } from './threadState.js';
import { noteDivisor } from './zeroDivisor.js';

/** A way out of a block; without a target it ends the thread. */
export interface OutgoingEdge extends Edge {
  readonly target: number | undefined;
}

/** What orders, hints or waits and leaves nothing behind. */
const INERT: ReadonlySet<EffectKind> = new Set(['barrier', 'fence', 'hint', 'wait']);

/** The faults that lowered calls end in tell what kind of call it was. */
export const callTraps: Readonly<Record<string, Omit<FoundHazard, 'line'> | undefined>> = {
  illegalInstruction: { what: 'indirectCall', text: 'a call through a pointer' },
  unsupportedInstruction: { what: 'indirectCall', text: 'a call of a function that cannot be followed' },
  stackOverflow: { what: 'recursion', text: 'a function that calls itself' },
};

/** Runs the instructions of one block symbolically. @returns the ways on from there */
export function executeBlock(
  context: KernelContext,
  block: IrBlock,
  entry: Edge,
  surroundings: Surroundings,
): OutgoingEdge[] {
  for (let index = block.first; index <= block.last; index++) {
    const instruction = context.kernel.instructions[index];
    if (instruction === undefined) continue;
    if (isControl(instruction)) {
      noteHazard(instruction, surroundings);
      return leave(context, block, instruction, entry);
    }
    execute(context, instruction, entry, surroundings);
  }
  return block.successors.map((target) => ({ target, ...entry }));
}

function isControl({ opcode }: IrInstruction): boolean {
  return goesElsewhere(opcode) || endsThread(opcode);
}

function guardOf(context: KernelContext, instruction: IrInstruction, state: ThreadState): Expression {
  const { conditions } = context;
  if (instruction.guard === undefined) return conditions.yes;
  const operands = new Operands(context, instruction, state);
  const value = operands.read({ kind: 'register', register: instruction.guard.register });
  return instruction.guard.negated ? conditions.not(value) : value;
}

function leave(
  context: KernelContext,
  block: IrBlock,
  instruction: IrInstruction,
  entry: Edge,
): OutgoingEdge[] {
  const { conditions, arithmetic } = context;
  const taken = guardOf(context, instruction, entry.state);
  const ways: { target: number | undefined; condition: Expression }[] = [];
  const labels = instruction.sources.flatMap((source) => (source.kind === 'label' ? [source.block] : []));
  if (isSwitch(instruction.opcode)) {
    const index = new Operands(context, instruction, entry.state).integer(0, 32, false);
    labels.forEach((target, at) => {
      ways.push({ target, condition: conditions.equal(index, arithmetic.constant(at)) });
    });
  } else if (isBranch(instruction.opcode)) {
    ways.push({ target: labels[0], condition: taken });
  } else ways.push({ target: undefined, condition: taken });
  const isGuarded = instruction.guard !== undefined;
  const next = block.index + 1;
  if (isGuarded && next < context.kernel.blocks.length) {
    ways.push({ target: next, condition: conditions.not(taken) });
  }
  const isShared = ways.length > 1 && ways.every((way) => way.target === ways[0]?.target);
  if (isShared && isBranch(instruction.opcode)) return [{ target: next, ...entry }];
  return ways
    .filter((way) => way.condition !== conditions.no)
    .map(({ target, condition }) => ({ target, state: entry.state, path: entry.path.with(condition) }));
}

function execute(
  context: KernelContext,
  instruction: IrInstruction,
  { path, state }: Edge,
  surroundings: Surroundings,
): void {
  const guard = guardOf(context, instruction, state);
  if (guard === context.conditions.no) return;
  noteHazard(instruction, surroundings);
  if (INERT.has(isa(instruction.opcode).effects.kind) && instruction.destinations.length === 0) return;
  const operands = new Operands(context, instruction, state);
  const within: Path = path.with(guard);
  const destinations = instruction.destinations.flatMap(flat);
  const place = { ...surroundings, path: within, state, isCertain: within === path };
  const values = resultsOf(operands, destinations, place);
  destinations.forEach((destination, index) => {
    if (destination.kind !== 'register') return;
    const value = values[index] ?? operands.unknown();
    const { register } = destination;
    state.set(register, guarded(context, instruction, state, { register, guard, value }));
  });
  if (instruction.carry?.writes === true) {
    const { register } = instruction.carry;
    const value = operands.unknownTruth();
    state.set(register, guarded(context, instruction, state, { register, guard, value }));
  }
}

function resultsOf(operands: Operands, destinations: readonly IrOperand[], place: MemoryPlace): Expression[] {
  if (accessesMemory(operands.instruction)) return accessMemory(operands, place);
  if (isFetch(operands.instruction.opcode)) noteFetch(operands, place);
  const told = exchanged(operands, destinations, place);
  if (told !== undefined) return told;
  noteDivisor(operands, place);
  const prepared = preparedQuotient(operands, place);
  return prepared === undefined ? results(operands, destinations) : [prepared];
}

/**
 * What threads learn of each other by an exchange some of whose threads came to it, or brought to it, what two runs may see
 * differently: by whichever instruction, it may be the one that this one waits for.
 */
function exchanged(
  operands: Operands,
  destinations: readonly IrOperand[],
  { findings, path, taintedExchanges }: MemoryPlace,
): Expression[] | undefined {
  const { taint } = isa(operands.instruction.opcode);
  if (destinations.length === 0 || taint.kind !== 'exchange') return undefined;
  const exchange = taint.name;
  if (operands.tainted || isTainted(path)) findings?.taintedExchanges.add(exchange);
  if (!taintedExchanges.has(exchange)) return undefined;
  return destinations.map((destination) => unknownFor(operands, destination, true));
}

function flat(operand: IrOperand): readonly IrOperand[] {
  if (operand.kind === 'pair') return [operand.first, operand.second];
  return operand.kind === 'vector' ? operand.elements : [operand];
}

/** What a register holds behind a predicated instruction. */
function guarded(
  context: KernelContext,
  instruction: IrInstruction,
  state: ThreadState,
  { register, guard, value }: { register: number; guard: Expression; value: Expression },
): Expression {
  if (guard === context.conditions.yes) return value;
  const type = context.kernel.registers[register]?.type ?? 'b64';
  const before = state.get(register) ?? context.unwritten(register, instruction.line);
  if (type === 'pred') return context.conditions.choose(guard, value, before);
  return chosenValue(context, guard, value, otherwise(context, guard, before), integerBits(type));
}

/** A value where a guard does not hold: of one that was written under the opposite guard, that. */
function otherwise({ conditions }: KernelContext, guard: Expression, value: Expression): Expression {
  if (value.op !== 'select') return value;
  if (value.condition === guard) return value.b;
  return value.condition === conditions.not(guard) ? value.a : value;
}

function noteHazard(instruction: IrInstruction, { findings }: Surroundings): void {
  const { taint } = isa(instruction.opcode);
  if (taint.kind !== 'effect') return;
  const { line } = instruction;
  const call = callTraps[instruction.modifiers[0] ?? ''];
  findings?.hazards.push(
    call === undefined ? { what: 'sideEffect', line, text: `the kernel ${taint.text}` } : { ...call, line },
  );
}
