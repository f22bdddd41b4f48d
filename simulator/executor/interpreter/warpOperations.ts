import {
  exchangesLanes,
  exchangesValues,
  type IrFunction,
  type IrInstruction,
  isBarrier,
  isMatrixExchange,
  memberMask,
  type ScalarType,
  type ValueExchange,
} from '../../ptx/index.js';
import { matrixExchange } from './matrixExchanges.js';
import { populationCount } from '../arithmetic/index.js';
import type { Value } from '../arithmetic/index.js';
import type { MemoryContext } from './laneInstructions.js';
import type { OperandReader, SymbolAddress } from './operands.js';
import { operandReader, operandWriter } from './operands.js';
import { runtimeCall } from './runtimeCalls.js';
import { registerReader } from './registerFile.js';
import { forEachLane, lowestLane, type Warp } from './warp.js';

/**
 * A warp-level operation: `members` reads a lane's member mask, `execute` runs it once all live members have come.
 * Without members it takes whichever lanes are there when no other can step.
 */
export interface WarpOperation {
  readonly members: OperandReader | undefined;
  readonly execute: (context: MemoryContext, group: number) => void;
}

const shuffleModes = ['up', 'down', 'bfly', 'idx'] as const;
type ShuffleMode = (typeof shuffleModes)[number];

/** The lane that `shfl` reads for `lane`, and whether it lies in the lane's segment. */
export function shuffleSource(
  mode: ShuffleMode,
  lane: number,
  b: number,
  c: number,
): { readonly from: number; readonly inSegment: boolean } {
  const by = b & 31;
  const segment = (c >>> 8) & 31;
  const least = lane & segment;
  const most = least | (c & 31 & ~segment);
  const from =
    mode === 'up'
      ? lane - by
      : mode === 'down'
        ? lane + by
        : mode === 'bfly'
          ? lane ^ by
          : least | (by & ~segment);
  const inSegment = mode === 'up' ? from >= most : from <= most;
  return { from: inSegment ? from : lane, inSegment };
}

/** The lane whose value `shfl` is to give a lane; undefined where it lies outside the lane's segment. */
export function shuffledFrom(
  { modifiers, sources }: IrInstruction,
  warp: Warp,
  lane: number,
): number | undefined {
  const mode = shuffleModes.find((each) => modifiers.includes(each)) ?? 'idx';
  const [b, c] = [1, 2].map((index) => {
    const operand = sources[index];
    if (operand?.kind === 'integer') return operand.low;
    return operand?.kind === 'register'
      ? Number(registerReader(operand.register, 'b32')(warp.registers, lane))
      : 0;
  });
  const { from, inSegment } = shuffleSource(mode, lane, b ?? 0, c ?? 0);
  return inSegment ? from : undefined;
}

export function warpOperation(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): WarpOperation | undefined {
  const { opcode } = instruction;
  const runtime = runtimeCall(instruction, fn, symbols);
  if (runtime !== undefined) return { members: undefined, execute: runtime };
  if (!isBarrier(opcode) && !exchangesLanes(opcode)) return undefined;
  const mask = memberMask(instruction);
  const members = mask === undefined ? undefined : operandReader(mask, 'b32', symbols);
  if (isMatrixExchange(opcode)) return { members, execute: matrixExchange(instruction, opcode, fn, symbols) };
  // A barrier of a warp tells nobody anything.
  const execute = exchangesValues(opcode) ? exchanges[opcode](instruction, fn, symbols) : () => undefined;
  return { members, execute };
}

type ExchangeMaker = (
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
) => WarpOperation['execute'];

const exchanges: Readonly<Record<ValueExchange, ExchangeMaker>> = {
  shfl: shuffle,
  vote,
  match,
  redux: reduce,
  elect,
  activemask: (instruction, fn) => {
    const { write } = destinations(instruction, fn, 'b32');
    return (context, group) => forEachLane(group, (lane) => write(context, lane, group));
  },
};

/** Of the lanes that met the lowest leads. */
function elect(instruction: IrInstruction, fn: IrFunction): WarpOperation['execute'] {
  const { write, writePredicate } = destinations(instruction, fn, 'b32');
  return (context, group) => {
    const leader = lowestLane(group);
    forEachLane(group, (lane) => {
      write(context, lane, leader);
      writePredicate(context, lane, lane === leader ? 1 : 0);
    });
  };
}

function source(
  instruction: IrInstruction,
  index: number,
  kind: ScalarType,
  symbols: SymbolAddress,
): OperandReader {
  const operand = instruction.sources[index];
  if (operand === undefined) throw new RangeError(`${instruction.opcode} lacks operand ${index}`);
  return operandReader(operand, kind, symbols);
}

/** Writers of a destination that may be a pair `d|p`. */
function destinations(instruction: IrInstruction, fn: IrFunction, kind: ScalarType) {
  const operand = instruction.destinations[0] ?? { kind: 'sink' as const };
  const [first, second] =
    operand.kind === 'pair' ? [operand.first, operand.second] : [operand, { kind: 'sink' as const }];
  return { write: operandWriter(first, kind, fn), writePredicate: operandWriter(second, 'pred', fn) };
}

function shuffle(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): WarpOperation['execute'] {
  const mode = shuffleModes.find((each) => instruction.modifiers.includes(each)) ?? 'idx';
  const [a, b, c] = ([0, 1, 2] as const).map((index) => source(instruction, index, 'b32', symbols));
  const { write, writePredicate } = destinations(instruction, fn, 'b32');
  return (context, group) => {
    const results: { lane: number; value: Value; inSegment: boolean }[] = [];
    forEachLane(group, (lane) => {
      const { from, inSegment } = shuffleSource(
        mode,
        lane,
        Number(b?.(context, lane)),
        Number(c?.(context, lane)),
      );
      // PTX leaves open what a lane gives that does not take part; a card (H200) gives 0.
      const value = ((group >>> from) & 1) === 1 ? (a?.(context, from) ?? 0) : 0;
      results.push({ lane, value, inSegment });
    });
    for (const { lane, value, inSegment } of results) {
      write(context, lane, value);
      writePredicate(context, lane, inSegment ? 1 : 0);
    }
  };
}

function vote(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): WarpOperation['execute'] {
  const predicate = source(instruction, 0, 'pred', symbols);
  const isBallot = instruction.modifiers.includes('ballot');
  const { write } = destinations(instruction, fn, isBallot ? 'b32' : 'pred');
  return (context, group) => {
    let ballot = 0;
    forEachLane(group, (lane) => {
      if (predicate(context, lane) === 1) ballot |= 1 << lane;
    });
    const holds = instruction.modifiers.includes('any')
      ? ballot !== 0
      : ballot === group || (instruction.modifiers.includes('uni') && ballot === 0);
    forEachLane(group, (lane) => write(context, lane, isBallot ? ballot : holds ? 1 : 0));
  };
}

function match(instruction: IrInstruction, fn: IrFunction, symbols: SymbolAddress): WarpOperation['execute'] {
  const value = source(instruction, 0, instruction.types.at(-1) ?? 'b32', symbols);
  const isAll = instruction.modifiers.includes('all');
  const { write, writePredicate } = destinations(instruction, fn, 'b32');
  return (context, group) => {
    const alike = new Map<Value, number>();
    forEachLane(group, (lane) => {
      const own = value(context, lane);
      alike.set(own, (alike.get(own) ?? 0) | (1 << lane));
    });
    const results: [number, number][] = [];
    forEachLane(group, (lane) => {
      results.push([lane, isAll ? (alike.size === 1 ? group : 0) : (alike.get(value(context, lane)) ?? 0)]);
    });
    for (const [lane, mask] of results) {
      write(context, lane, mask);
      writePredicate(context, lane, alike.size === 1 ? 1 : 0);
    }
  };
}

const reductions: Readonly<Record<string, (a: number, b: number) => number>> = {
  add: (a, b) => (a + b) | 0,
  min: Math.min,
  max: Math.max,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
};

function reduce(
  instruction: IrInstruction,
  fn: IrFunction,
  symbols: SymbolAddress,
): WarpOperation['execute'] {
  const { modifiers } = instruction;
  const kind = instruction.types.at(-1) ?? 'b32';
  const value = source(instruction, 0, kind, symbols);
  const { write } = destinations(instruction, fn, kind);
  const name = Object.keys(reductions).find((each) => modifiers.includes(each));
  const combine = reductions[name ?? 'xor'] ?? ((x) => x);
  return (context, group) => {
    let result: number | undefined;
    forEachLane(group, (lane) => {
      const own = Number(value(context, lane));
      result = result === undefined ? own : combine(result, own);
    });
    forEachLane(group, (lane) => write(context, lane, result ?? 0));
  };
}

/** How many lanes a mask holds. */
export function laneCount(mask: number): number {
  return populationCount(mask);
}
