import {
  dominators,
  exchangesLanes,
  type IrFunction,
  type IrInstruction,
  type IrOperand,
  isAtomic,
  isBranch,
  isLoad,
  isPlainLoad,
  isSwitch,
  readRegisters,
  writtenRegisters,
} from '../../../ptx/index.js';
import { spaceOf } from '../instructions/index.js';
import type { LaneValues } from './laneValues.js';
import type { LinearForms } from './linearForms.js';

/** The threads of a block of one row, each with its lane; of wider blocks a value is known likewise if it tells rows from nothing. */
export const SAMPLED_THREADS = 1024;

/** A value of each thread, but for a part that all threads share. */
export interface ThreadSamples {
  readonly values: Float64Array;
  /** What it is computed from: `tid.x`, `laneid`, both or neither. */
  readonly from: 'tid.x' | 'laneid' | 'both' | undefined;
  /** Whether an unknown number that all threads share comes in addition. */
  readonly isOffset: boolean;
}

/** Which threads come to an instruction, as far as tests of their place in the block tell. */
export interface Comers {
  /** 1 for those that may; undefined for all. */
  readonly threads: Uint8Array | undefined;
  readonly from: ThreadSamples['from'];
  /** Whether other tests stand before it. */
  readonly isTested: boolean;
}

const EVERYONE: Comers = { threads: undefined, from: undefined, isTested: false };

/** 1 for registers whose values depend on what some instructions give. */
export function registersMadeOf(
  fn: IrFunction,
  isSource: (instruction: IrInstruction) => boolean,
): Uint8Array {
  const found = new Uint8Array(fn.registers.length);
  for (let changed = true; changed;) {
    changed = false;
    for (const instruction of fn.instructions) {
      if (!isSource(instruction) && !readRegisters(instruction).some((register) => found[register] === 1))
        continue;
      for (const register of writtenRegisters(instruction)) {
        if (found[register] === 1) continue;
        found[register] = 1;
        changed = true;
      }
    }
  }
  return found;
}

/** How deep definitions are followed. */
const DEEPEST = 24;

/** Computes values that depend on nothing but a thread's place in its row, for every such place. */
export class ThreadSampler {
  /** By the instruction that computes it. */
  private readonly known = new Map<number, ThreadSamples | undefined>();
  private readonly comers = new Map<number, Comers>();
  private readonly above: ArrayLike<number>;
  private readonly blockOf: Int32Array;

  /** 1 for registers that depend on memory or on other lanes. */
  private readonly isOpen: Uint8Array;

  constructor(
    private readonly fn: IrFunction,
    private readonly forms: LinearForms,
    private readonly lanes: LaneValues,
  ) {
    this.isOpen = registersMadeOf(fn, ({ opcode, modifiers }) =>
      isPlainLoad(opcode)
        ? !/^(?:param|const)$/.test(spaceOf(modifiers))
        : isLoad(opcode) || isAtomic(opcode) || exchangesLanes(opcode),
    );
    this.blockOf = new Int32Array(fn.instructions.length);
    for (const { index, first, last } of fn.blocks) this.blockOf.fill(index, first, last + 1);
    this.above = dominators(fn).immediate;
  }

  comersTo(instruction: IrInstruction): Comers {
    const before = this.comersOf(this.blockOf[instruction.index] ?? 0);
    return instruction.guard === undefined
      ? before
      : both(before, this.passing(instruction.guard, instruction.index));
  }

  /** The address that an operand names. */
  ofAddress({ base }: Extract<IrOperand, { kind: 'address' }>, at: number): ThreadSamples | undefined {
    return typeof base === 'number' ? this.ofRegister(base, at, 0) : undefined;
  }

  private comersOf(block: number): Comers {
    const chain: number[] = [];
    let at = block;
    for (; at >= 0 && !this.comers.has(at); at = this.above[at] ?? -1) chain.push(at);
    let found = this.comers.get(at) ?? EVERYONE;
    for (const each of chain.reverse()) this.comers.set(each, (found = both(found, this.entered(each))));
    return found;
  }

  /** The condition under which a block is entered from the only one before it. */
  private entered(index: number): Comers {
    const predecessors = [...new Set(this.fn.blocks[index]?.predecessors)];
    const [from] = predecessors;
    if (from === undefined || predecessors.length > 1) return EVERYONE;
    const [taken, other] = this.fn.blocks[from]?.successors ?? [];
    const branch = this.fn.instructions[this.fn.blocks[from]?.last ?? -1];
    if (branch === undefined) return EVERYONE;
    if (isSwitch(branch.opcode)) return { ...EVERYONE, isTested: true };
    if (!isBranch(branch.opcode) || branch.guard === undefined || taken === other) return EVERYONE;
    const { register, negated } = branch.guard;
    return this.passing({ register, negated: (taken === index) === negated }, branch.index);
  }

  private passing({ register, negated }: NonNullable<IrInstruction['guard']>, at: number): Comers {
    const test = this.ofRegister(register, at, 0);
    if (test === undefined || test.isOffset) return { ...EVERYONE, isTested: this.isOpen[register] === 1 };
    const threads = Uint8Array.from(test.values, (value) => ((value !== 0) !== negated ? 1 : 0));
    return { threads, from: test.from, isTested: false };
  }

  /** The value that a register has before instruction `at`. */
  private ofRegister(register: number, at: number, depth: number): ThreadSamples | undefined {
    const definition = this.forms.definitionBefore(register, at);
    const found = definition === undefined || depth > DEEPEST ? undefined : this.given(definition, depth);
    return found ?? (this.lanes.varying[register] === 0 ? SHARED : undefined);
  }

  private given(definition: IrInstruction, depth: number): ThreadSamples | undefined {
    const { index } = definition;
    if (!this.known.has(index)) this.known.set(index, this.made(definition, depth));
    return this.known.get(index);
  }

  private ofOperand(operand: IrOperand | undefined, at: number, depth: number): ThreadSamples | undefined {
    if (operand?.kind === 'register') return this.ofRegister(operand.register, at, depth + 1);
    if (operand?.kind === 'integer')
      return { values: numbers(() => operand.low | 0), from: undefined, isOffset: false };
    if (operand?.kind === 'symbol') return SHARED;
    if (operand?.kind !== 'special') return undefined;
    if (operand.name === 'tid.x') return BY_THREAD;
    if (operand.name === 'laneid') return BY_LANE;
    return /^(?:n?ctaid|ntid)/.test(operand.name) ? SHARED : undefined;
  }

  private made(instruction: IrInstruction, depth: number): ThreadSamples | undefined {
    const { opcode, modifiers, sources, types, carry, selectors, destinations, index } = instruction;
    const type = types.at(-1) ?? '';
    if (carry !== undefined || selectors !== undefined || modifiers.includes('sat')) return undefined;
    if (destinations[0]?.kind !== 'register' || !/^[bsu](?:32|64)$/.test(type)) return undefined;
    const [a, b, c] = sources.map((source) => this.ofOperand(source, index, depth));
    if (a === undefined) return undefined;
    if (/^(?:mov|cvta)$/.test(opcode)) return a;
    if (opcode === 'cvt') return modifiers.every((each) => /^[bsu](?:32|64)$/.test(each)) ? a : undefined;
    if (b === undefined || modifiers.includes('hi')) return undefined;
    const isLong = modifiers.includes('wide') || type.endsWith('64');
    const multiply: Binary = isLong ? (x, y) => x * y : Math.imul;
    if (opcode === 'mul') return this.combined(a, b, multiply);
    if (opcode === 'mad') {
      const product = c === undefined ? undefined : this.combined(a, b, multiply);
      return product === undefined || c === undefined ? undefined : sum(product, c, 1);
    }
    if (c !== undefined) return undefined;
    if (opcode === 'add' || opcode === 'sub') return sum(a, b, opcode === 'add' ? 1 : -1);
    const isUnsigned = type.startsWith('u');
    const compute = opcode === 'setp' ? comparison(modifiers, isUnsigned) : operation(opcode, isUnsigned);
    return compute === undefined ? undefined : this.combined(a, b, compute);
  }

  /** Of shared numbers that are not known nothing but their being shared remains. */
  private combined(a: ThreadSamples, b: ThreadSamples, compute: Binary): ThreadSamples | undefined {
    if (a.from === undefined && b.from === undefined && (a.isOffset || b.isOffset)) return SHARED;
    if (a.isOffset || b.isOffset) return undefined;
    const values = numbers((at) => compute(a.values[at] ?? 0, b.values[at] ?? 0));
    return { values, from: fromBoth(a.from, b.from), isOffset: false };
  }
}

function numbers(of: (at: number) => number): Float64Array {
  const values = new Float64Array(SAMPLED_THREADS);
  for (let at = 0; at < SAMPLED_THREADS; at++) values[at] = of(at);
  return values;
}

const SHARED: ThreadSamples = { values: numbers(() => 0), from: undefined, isOffset: true };
const BY_THREAD: ThreadSamples = { values: numbers((at) => at), from: 'tid.x', isOffset: false };
const BY_LANE: ThreadSamples = { values: numbers((at) => at & 31), from: 'laneid', isOffset: false };

function sum(a: ThreadSamples, b: ThreadSamples, factor: number): ThreadSamples {
  const values = numbers((at) => (a.values[at] ?? 0) + factor * (b.values[at] ?? 0));
  return { values, from: fromBoth(a.from, b.from), isOffset: a.isOffset || b.isOffset };
}

function fromBoth(a: ThreadSamples['from'], b: ThreadSamples['from']): ThreadSamples['from'] {
  if (a === undefined || a === b) return b;
  return b === undefined ? a : 'both';
}

function both(a: Comers, b: Comers): Comers {
  if (b === EVERYONE) return a;
  const { threads } = a;
  const other = b.threads;
  const common =
    threads === undefined || other === undefined
      ? undefined
      : threads.map((one, at) => one & (other[at] ?? 0));
  return {
    threads: common ?? threads ?? other,
    from: fromBoth(a.from, b.from),
    isTested: a.isTested || b.isTested,
  };
}

/** On two numbers of 32 bits. */
type Binary = (x: number, y: number) => number;

function signed(isUnsigned: boolean): (x: number) => number {
  return isUnsigned ? (x) => x >>> 0 : (x) => x | 0;
}

function operation(opcode: string, isUnsigned: boolean): Binary | undefined {
  const of = signed(isUnsigned);
  switch (opcode) {
    case 'and':
      return (x, y) => x & y;
    case 'or':
      return (x, y) => x | y;
    case 'xor':
      return (x, y) => x ^ y;
    case 'shl':
      return (x, y) => (y > 31 ? 0 : x << y);
    case 'shr':
      return isUnsigned ? (x, y) => (y > 31 ? 0 : x >>> y) : (x, y) => x >> Math.min(y, 31);
    case 'rem':
      return (x, y) => (y === 0 ? 0 : of(x) % of(y));
    case 'div':
      return (x, y) => (y === 0 ? 0 : Math.trunc(of(x) / of(y)));
    case 'min':
      return (x, y) => Math.min(of(x), of(y));
    case 'max':
      return (x, y) => Math.max(of(x), of(y));
    default:
      return undefined;
  }
}

const comparisons: Readonly<Record<string, Binary>> = {
  eq: (x, y) => Number(x === y),
  ne: (x, y) => Number(x !== y),
  lt: (x, y) => Number(x < y),
  le: (x, y) => Number(x <= y),
  gt: (x, y) => Number(x > y),
  ge: (x, y) => Number(x >= y),
};

/** The four that are spelled otherwise for numbers without a sign. */
const unsignedNames: Readonly<Record<string, string>> = { lo: 'lt', ls: 'le', hi: 'gt', hs: 'ge' };

function comparison(modifiers: readonly string[], isUnsigned: boolean): Binary | undefined {
  const [name = ''] = modifiers;
  const compare = comparisons[unsignedNames[name] ?? name];
  const of = signed(isUnsigned || name in unsignedNames);
  return compare === undefined ? undefined : (x, y) => compare(of(x), of(y));
}
