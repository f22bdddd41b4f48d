import {
  analyzeLoops,
  readRegisters,
  writtenRegisters,
  type IrFunction,
  type IrInstruction,
  type IrOperand,
} from '../../../ptx/index.js';
import { spaceOf } from '../instructions/index.js';
import { between, type LaneValues } from './laneValues.js';

/**
 * A number as a constant and multiples of what it is made of: registers by number, special registers, parameters and
 * variables by name.
 */
export interface LinearForm {
  readonly constant: number;
  readonly terms: ReadonlyMap<string, number>;
}

/** How deep definitions are followed. */
const DEEPEST = 24;

/** Writes addresses as linear forms of what cannot be followed further. */
export class LinearForms {
  private readonly definitions = new Map<number, IrInstruction[]>();
  private readonly blockOf: Int32Array;
  private readonly inLoop: Uint8Array;
  /** Blocks that can be come to from a block without going through another, by both. */
  private readonly reached = new Map<string, ReadonlySet<number>>();
  private readonly roots = new Map<number, string | undefined>();
  private readonly offsets: ReadonlyMap<string, number>;
  private readonly openArrays: ReadonlySet<string>;

  constructor(
    private readonly fn: IrFunction,
    private readonly values: LaneValues,
    openArrays: readonly string[],
  ) {
    this.blockOf = new Int32Array(fn.instructions.length);
    for (const { index, first, last } of fn.blocks) this.blockOf.fill(index, first, last + 1);
    this.inLoop = new Uint8Array(fn.blocks.length);
    const { loops, isReducible } = analyzeLoops(fn);
    if (!isReducible) this.inLoop.fill(1);
    for (const { blocks } of loops) for (const block of blocks) this.inLoop[block] = 1;
    for (const instruction of fn.instructions) {
      for (const register of writtenRegisters(instruction)) {
        const known = this.definitions.get(register);
        if (known === undefined) this.definitions.set(register, [instruction]);
        else known.push(instruction);
      }
    }
    this.offsets = new Map(fn.parameters.map(({ name, offset }) => [name, offset]));
    this.openArrays = new Set(openArrays);
  }

  /** The address that an instruction's operand names. */
  ofAddress(operand: Extract<IrOperand, { kind: 'address' }>, at: number): LinearForm {
    const { base, offset } = operand;
    if (base === undefined) return { constant: offset, terms: new Map() };
    if (typeof base === 'string') return symbolForm(this.nameOf(base), offset);
    const form = this.ofRegister(base, at, 0);
    return { ...form, constant: form.constant + offset };
  }

  /** The parameter or variable that an address is an offset from, where that is one. */
  rootOf({ base }: Extract<IrOperand, { kind: 'address' }>): string | undefined {
    if (typeof base === 'string') return this.nameOf(base);
    return base === undefined ? undefined : this.rootOfRegister(base);
  }

  private rootOfRegister(register: number): string | undefined {
    if (this.roots.has(register)) return this.roots.get(register);
    // Going round in a loop adds no root.
    this.roots.set(register, undefined);
    const found = (this.definitions.get(register) ?? []).flatMap((each) =>
      isStep(each) && readRegisters(each).includes(register) ? [] : [this.rootMade(each)],
    );
    const root = found.every((each) => each === found[0]) ? found[0] : undefined;
    this.roots.set(register, root);
    return root;
  }

  private rootMade(instruction: IrInstruction): string | undefined {
    const { opcode, sources, modifiers } = instruction;
    const found = opcode === 'ld' ? this.made(instruction, 0)?.terms.keys().next().value : undefined;
    if (found?.startsWith('param') === true) return found;
    if (!isStep(instruction) || modifiers.includes('sat')) return undefined;
    const roots = (opcode === 'mad' ? sources.slice(2) : sources).flatMap((source) => {
      if (source.kind === 'symbol') return [this.nameOf(source.name)];
      if (source.kind !== 'register') return [];
      return this.rootOfRegister(source.register) ?? [];
    });
    return roots.length === 1 ? roots[0] : undefined;
  }

  /** The value of an operand of an instruction. */
  ofOperand(operand: IrOperand | undefined, at: number): LinearForm | undefined {
    if (operand?.kind === 'register') return this.ofRegister(operand.register, at, 0);
    if (operand?.kind === 'special') return symbolForm(operand.name, 0);
    return operand?.kind === 'integer' ? { constant: operand.low | 0, terms: new Map() } : undefined;
  }

  /** The instruction that alone writes a register. */
  definitionOf(register: number): IrInstruction | undefined {
    const [only, ...others] = this.definitions.get(register) ?? [];
    return others.length === 0 ? only : undefined;
  }

  /** The instruction that has written a register wherever a thread comes to instruction `at`, if that is one. */
  definitionBefore(register: number, at: number): IrInstruction | undefined {
    const all = this.definitions.get(register) ?? [];
    const block = this.blockOf[at];
    const last = all.findLast(({ index }) => index < at && this.blockOf[index] === block);
    const found = last ?? (all.length === 1 ? all[0] : undefined);
    return found?.guard === undefined ? found : undefined;
  }

  /** Whether a term has the same value for all lanes as long as nothing writes it. */
  isUniform(term: string): boolean {
    const register = registerOf(term);
    return register === undefined ? !isThreadIndex(term) : this.values.varying[register] === 0;
  }

  /** Whether a form has one value from the beginning of the kernel to its end, for each lane. */
  isFixed(form: LinearForm): boolean {
    return this.registersOf(form).every((register) => this.isWrittenOnce(register));
  }

  /** Registers that a form is made of. */
  registersOf(form: LinearForm): number[] {
    return [...form.terms.keys()].flatMap((term) => registerOf(term) ?? []);
  }

  /** The value that a register has before instruction `at`. */
  private ofRegister(register: number, at: number, depth: number): LinearForm {
    const own = { constant: 0, terms: new Map([[`r${register}`, 1]]) };
    const only = this.definitionBefore(register, at);
    const made = only === undefined || depth > DEEPEST ? undefined : this.made(only, depth);
    if (only === undefined || made === undefined) return own;
    for (const term of made.terms.keys()) {
      const part = registerOf(term);
      if (part !== undefined && this.mayChange(part, only.index, at)) return own;
    }
    return made;
  }

  private isWrittenOnce(register: number): boolean {
    const writers = this.definitions.get(register) ?? [];
    return writers.length <= 1 && writers.every(({ index }) => this.inLoop[this.blockOf[index] ?? 0] === 0);
  }

  /** Whether a register may be written between what was computed from it and where that is used. */
  private mayChange(register: number, from: number, to: number): boolean {
    const writers = this.definitions.get(register) ?? [];
    if (this.isWrittenOnce(register)) return false;
    return writers.some(({ index }) => this.liesBetween(from, index, to));
  }

  /** Whether a thread may come from one instruction to another by way of a third, without coming to the first one again. */
  private liesBetween(from: number, by: number, to: number): boolean {
    const [start, middle, end] = [from, by, to].map((at) => this.blockOf[at] ?? 0) as [
      number,
      number,
      number,
    ];
    const comesBy = middle === start ? by > from : this.behind(start, start).has(middle);
    if (!comesBy || from === by) return false;
    if (middle === end && by < to) return true;
    return end === start
      ? to < from && this.behind(middle, start).has(start)
      : this.behind(middle, start).has(end);
  }

  private behind(block: number, without: number): ReadonlySet<number> {
    const key = `${block} ${without}`;
    let found = this.reached.get(key);
    if (found === undefined) {
      const inside = between(this.fn, this.fn.blocks[block]?.successors ?? [], without);
      if ([block, ...inside].some((each) => this.fn.blocks[each]?.successors.includes(without) === true))
        inside.add(without);
      this.reached.set(key, (found = inside));
    }
    return found;
  }

  private made(instruction: IrInstruction, depth: number): LinearForm | undefined {
    const { opcode, modifiers, sources, types, index, carry } = instruction;
    if (carry !== undefined || modifiers.includes('sat') || instruction.selectors !== undefined)
      return undefined;
    const isNarrow = /(?:32|16)$/.test(types.at(-1) ?? '');
    const of = (operand: IrOperand | undefined): LinearForm | undefined => {
      if (operand?.kind === 'register') return this.ofRegister(operand.register, index, depth + 1);
      if (operand?.kind === 'symbol') return symbolForm(this.nameOf(operand.name), operand.offset);
      if (operand?.kind === 'integer') {
        const constant = isNarrow ? operand.low | 0 : operand.high * 2 ** 32 + (operand.low >>> 0);
        return { constant, terms: new Map() };
      }
      const isIndex =
        operand?.kind === 'special' && /^(tid|ntid|ctaid|nctaid|laneid|warpid)/.test(operand.name);
      return isIndex ? symbolForm(operand.name, 0) : undefined;
    };
    const [a, b, c] = sources;
    switch (opcode) {
      case 'mov':
      case 'cvta':
        return of(a);
      case 'cvt':
        return modifiers.every((each) => /^[bsu](?:32|64)$/.test(each)) ? of(a) : undefined;
      case 'add':
        return add(of(a), of(b), 1);
      case 'sub':
        return add(of(a), of(b), -1);
      case 'shl': {
        const by = of(b);
        return by?.terms.size === 0 ? scaled(of(a), 2 ** by.constant) : undefined;
      }
      case 'mul':
      case 'mad': {
        if (modifiers.includes('hi')) return undefined;
        const product = multiplied(of(a), of(b));
        return opcode === 'mul' ? product : add(product, of(c), 1);
      }
      case 'ld': {
        if (spaceOf(modifiers) !== 'param' || a?.kind !== 'address' || typeof a.base !== 'string')
          return undefined;
        const offset = this.offsets.get(a.base);
        return offset === undefined ? undefined : symbolForm(`param ${offset + a.offset}`, 0);
      }
      default:
        return undefined;
    }
  }

  /** Arrays of open extent all begin at one place. */
  private nameOf(symbol: string): string {
    return this.openArrays.has(symbol) ? 'symbol' : `symbol ${symbol}`;
  }
}

/** Whether an instruction's result is one of its operands moved on. */
function isStep({ opcode }: IrInstruction): boolean {
  return /^(?:mov|cvta|cvt|add|sub|mad|selp)$/.test(opcode);
}

export function registerOf(term: string): number | undefined {
  return /^r\d/.test(term) ? Number(term.slice(1)) : undefined;
}

export function isThreadIndex(term: string): boolean {
  return /^(tid|laneid)/.test(term);
}

function symbolForm(name: string, constant: number): LinearForm {
  return { constant, terms: new Map([[name, 1]]) };
}

/** a + factor · b */
export function add(
  a: LinearForm | undefined,
  b: LinearForm | undefined,
  factor: number,
): LinearForm | undefined {
  if (a === undefined || b === undefined) return undefined;
  const terms = new Map(a.terms);
  for (const [term, count] of b.terms) {
    const sum = (terms.get(term) ?? 0) + factor * count;
    if (sum === 0) terms.delete(term);
    else terms.set(term, sum);
  }
  return { constant: a.constant + factor * b.constant, terms };
}

function scaled(form: LinearForm | undefined, factor: number): LinearForm | undefined {
  return form === undefined ? undefined : add({ constant: 0, terms: new Map() }, form, factor);
}

function multiplied(a: LinearForm | undefined, b: LinearForm | undefined): LinearForm | undefined {
  if (a === undefined || b === undefined) return undefined;
  if (a.terms.size === 0) return scaled(b, a.constant);
  return b.terms.size === 0 ? scaled(a, b.constant) : undefined;
}
