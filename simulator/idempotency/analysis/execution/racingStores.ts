import { exchangesLanes, type IrFunction, type IrModule, type IrOperand } from '../../../ptx/index.js';
import type { Arithmetic } from '../expressions/arithmetic.js';
import { constantOf, termsOf, type Expression, type Term } from '../expressions/expression.js';
import { contains } from '../expressions/rewriting.js';
import type { Path } from './path.js';
import { storingTogether } from './racingLoads.js';

/** A store to shared memory. */
export interface FoundSharedStore {
  readonly instruction: number;
  readonly address: Expression;
  /** Of all its elements. */
  readonly bytes: number;
  /** One an element; undefined where it differs between threads in ways that nothing here tells. */
  readonly values: readonly (Expression | undefined)[];
  readonly path: Path;
}

const AXES = ['tid.x', 'tid.y', 'tid.z'] as const;
type Axis = (typeof AXES)[number];

/** No block has more threads. */
const MOST_THREADS = 1024;
/** No block has as much shared memory: addresses further apart may meet again where they wrap around. */
const MOST_BYTES = 2 ** 20;
/** Stores between two barriers beyond which nothing is looked at. */
const MOST_STORES = 256;

/**
 * Whether two threads of a block may store different values to the same bytes of shared memory between two barriers: which of
 * them stays, two runs may see differently. Held to be safe are values that are the same for all threads, stores of one
 * thread, and addresses that tell threads apart; variables do not run into each other.
 */
export function storesMayRace(
  fn: IrFunction,
  { arithmetic, ir }: { readonly arithmetic: Arithmetic; readonly ir: IrModule },
  stores: readonly FoundSharedStore[],
  blocks: BlockShape,
): boolean {
  if (stores.length === 0) return false;
  const dynamic = [...ir.variables, ...fn.variables].filter(({ bytes, isExtern }) => isExtern || bytes === 0);
  const race = new StoreRace(
    arithmetic,
    blocks === 'row' ? new Set(['tid.x']) : axesOf(fn),
    new Set(dynamic.map(({ name }) => name)),
  );
  return storingTogether(fn).some((instructions) => {
    const together = stores.filter(({ instruction }) => instructions.has(instruction));
    if (together.length > MOST_STORES) return true;
    return together.some(
      (store, index) =>
        race.isWithItself(store) || together.slice(index + 1).some((other) => race.isBetween(store, other)),
    );
  });
}

/** Whether blocks may have several rows of threads, or are taken to have one. */
export type BlockShape = 'any' | 'row';

/** Indices that tell a block's threads apart for this code: threads which differ in others alone do the same. */
function axesOf({ instructions }: IrFunction): ReadonlySet<Axis> {
  const found = new Set<Axis>();
  const special = (operand: IrOperand): string[] => (operand.kind === 'special' ? [operand.name] : []);
  for (const { opcode, sources } of instructions) {
    const names = sources.flatMap(special);
    if (exchangesLanes(opcode) || names.some((name) => /^lane|warpid$/.test(name))) return new Set(AXES);
    for (const axis of AXES) if (names.includes(axis)) found.add(axis);
  }
  return found;
}

class StoreRace {
  constructor(
    private readonly arithmetic: Arithmetic,
    private readonly axes: ReadonlySet<Axis>,
    /** Variables that all begin where the launch's shared memory does. */
    private readonly dynamic: ReadonlySet<string>,
  ) {}

  isWithItself(store: FoundSharedStore): boolean {
    return !isOfAll(store) && !this.isOfOneThread(store) && !this.tellsThreadsApart(store);
  }

  /** Both are safe by themselves. */
  isBetween(a: FoundSharedStore, b: FoundSharedStore): boolean {
    if (
      isOfAll(a) &&
      isOfAll(b) &&
      a.bytes === b.bytes &&
      a.values.length === b.values.length &&
      a.values.every((value, at) => value === b.values[at])
    )
      return false;
    if (this.areApart(a, b)) return false;
    const pins = [a, b].map(({ path }) => path.since().filter((condition) => pinned(condition).size > 0));
    const shared = pins[0]?.filter((condition) => pins[1]?.includes(condition)) ?? [];
    if (this.tellsThreadsApart(a) && this.tellsThreadsApart(b)) {
      const distance = this.arithmetic.subtract(a.address, b.address);
      const isSame = distance.op === 'constant' && distance.value === 0 && a.bytes === b.bytes;
      // Of rows that are pinned, the same in both: the first row and the second are different threads.
      if (isSame && pins.every((own) => this.pins(own, shared))) return false;
      const [[name, step] = [], ...others] = this.stepsOf(a) ?? [];
      const isFar =
        distance.op === 'constant' &&
        step !== undefined &&
        Math.abs(distance.value) < MOST_BYTES &&
        Math.abs(distance.value) >= Math.abs(step.coefficient) * MOST_THREADS;
      if (isFar && name !== 'counter' && others.length === 0 && a.bytes === b.bytes) return false;
    }
    return !this.areAll(shared);
  }

  /** Whether what conditions pin is pinned by those that two stores share. */
  private pins(conditions: readonly Expression[], shared: readonly Expression[]): boolean {
    const told = new Set(shared.flatMap((condition) => [...pinned(condition)]));
    return conditions.every((condition) => [...pinned(condition)].every((axis) => told.has(axis)));
  }

  /** Whether two stores are to different variables, or to different parts of one. */
  private areApart(a: FoundSharedStore, b: FoundSharedStore): boolean {
    const [first, second] = [variableOf(a.address), variableOf(b.address)];
    if (first === undefined || second === undefined) return false;
    const isBoth = this.dynamic.has(first.name) && this.dynamic.has(second.name);
    if (first !== second && !isBoth) return true;
    const [x, y] = [offsets(a), offsets(b)];
    return x.hi < y.lo || y.hi < x.lo;
  }

  private isOfOneThread({ path }: FoundSharedStore): boolean {
    return this.areAll(path.since());
  }

  /** Whether conditions leave one thread of a block. */
  private areAll(conditions: readonly Expression[]): boolean {
    const found = new Set(conditions.flatMap((condition) => [...pinned(condition)]));
    return [...this.axes].every((axis) => found.has(axis));
  }

  /** Different threads store to different bytes, in whichever iterations. */
  private tellsThreadsApart(store: FoundSharedStore): boolean {
    const steps = this.stepsOf(store);
    if (steps === undefined) return false;
    const fixed = new Set(store.path.since().flatMap((condition) => [...pinned(condition)]));
    const open = AXES.filter((axis) => this.axes.has(axis) && !fixed.has(axis));
    if (!open.every((axis) => steps.has(axis)) || open.length === 0) return false;
    // tid.x, then tid.y by ntid.x as much, and so on; iterations of a loop over all threads last.
    let unit: Term | undefined;
    for (const name of [...AXES, 'counter'] as const) {
      const step = steps.get(name);
      if (step === undefined) continue;
      if (name !== 'counter' && fixed.has(name)) continue;
      if (unit === undefined) {
        if (name === 'counter' || step.factors.length > 0) return false;
        const distance = Math.abs(step.coefficient);
        if (distance < store.bytes || distance > MOST_BYTES) return false;
        unit = step;
      } else if (!isSameStep(unit, step)) return false;
      if (name === 'counter') continue;
      const extent = this.arithmetic.table.dimension(
        name === 'tid.x' ? 'ntid.x' : name === 'tid.y' ? 'ntid.y' : 'ntid.z',
      );
      unit = { ...unit, factors: [...unit.factors, extent] };
    }
    return true;
  }

  /** By how much the address grows with each index and with a loop's counter; undefined when it is made in other ways. */
  private stepsOf({ address, path }: FoundSharedStore): Map<Axis | 'counter', Term> | undefined {
    const found = new Map<Axis | 'counter', Term>();
    for (const { coefficient, factors } of termsOf(address)) {
      const varying = factors.filter((factor) => !isOfBlock(factor));
      if (varying.length === 0) continue;
      const [variable] = varying;
      const name = variable === undefined ? undefined : nameOf(this.arithmetic, variable, path);
      if (name === undefined || varying.length > 1 || found.has(name)) return undefined;
      found.set(name, { coefficient, factors: factors.filter((factor) => factor !== variable) });
    }
    return found;
  }
}

/** What tells a value of one thread or iteration from that of another. */
const differing = /^(thread|counter|unknown|carried|hull)$/;

/** Whether an expression is the same for all threads of a block, in all iterations. */
function isOfBlock(expression: Expression): boolean {
  return !contains(
    expression,
    (part) => differing.test(part.op) && !(part.op === 'thread' && part.name.startsWith('ctaid')),
  );
}

function isOfAll({ values }: FoundSharedStore): boolean {
  return values.every((value) => value !== undefined && isOfBlock(value));
}

function nameOf(arithmetic: Arithmetic, factor: Expression, path: Path): Axis | 'counter' | undefined {
  if (factor.op === 'counter') return 'counter';
  if (factor.op === 'thread') return AXES.find((axis) => axis === factor.name);
  // ⌊tid / 32⌋ where tid is a multiple of 32: the first lane of each warp.
  if (factor.op !== 'quotient' || factor.rounding !== 'floor' || factor.b.op !== 'constant') return undefined;
  if (factor.a.op !== 'thread') return undefined;
  const rest = arithmetic.subtract(factor.a, arithmetic.scale(factor, factor.b.value));
  const isWhole = path
    .since()
    .some(({ op, ...condition }) => op === 'isZero' && 'of' in condition && condition.of === rest);
  const { name } = factor.a;
  return isWhole ? AXES.find((axis) => axis === name) : undefined;
}

function isSameStep(a: Term, b: Term): boolean {
  if (a.coefficient !== b.coefficient || a.factors.length !== b.factors.length) return false;
  const left = [...b.factors];
  return a.factors.every((factor) => {
    const at = left.indexOf(factor);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

/** Indices of which a condition leaves one value to the threads of a block. */
function pinned(condition: Expression): ReadonlySet<Axis> {
  const found = new Set<Axis>();
  if (condition.op === 'and')
    for (const term of condition.terms) for (const axis of pinned(term)) found.add(axis);
  if (condition.op !== 'isZero' && condition.op !== 'atMostZero') return found;
  const { of } = condition;
  if (condition.op === 'isZero' && of.op === 'bits' && of.operation === 'or') {
    for (const side of [of.a, of.b]) for (const axis of zeroes(side)) found.add(axis);
  }
  for (const axis of zeroes(of)) found.add(axis);
  const varying = termsOf(of).filter(({ factors }) => !factors.every(isOfBlock));
  const [only] = varying;
  const [index] = only?.factors ?? [];
  if (
    condition.op === 'isZero' &&
    varying.length === 1 &&
    only?.factors.length === 1 &&
    index?.op === 'thread'
  ) {
    const axis = AXES.find((each) => each === index.name);
    if (axis !== undefined) found.add(axis);
  }
  return found;
}

/** Indices that are 0 where a sum of what is never negative is at most 0. */
function zeroes(sum: Expression): Axis[] {
  if (constantOf(sum) < 0) return [];
  const found: Axis[] = [];
  for (const { coefficient, factors } of termsOf(sum)) {
    if (coefficient < 0 || factors.some((factor) => factor.lo < 0)) return [];
    const others = factors.filter((factor) => !(factor.op === 'dimension' && factor.lo >= 1));
    const [index] = others;
    const axis =
      index?.op === 'thread' && others.length === 1 ? AXES.find((each) => each === index.name) : undefined;
    if (axis !== undefined) found.push(axis);
  }
  return found;
}

type Place = Expression & { readonly op: 'place' };

function variableOf(address: Expression): Place | undefined {
  for (const { coefficient, factors } of termsOf(address)) {
    const [place] = factors;
    if (coefficient !== 1 || factors.length !== 1 || place?.op !== 'place') continue;
    if (place.name !== 'window' && place.space === 'shared') return place;
  }
  return undefined;
}

/** Where a store is in its variable, at least and at most. */
function offsets({ address, bytes }: FoundSharedStore): { lo: number; hi: number } {
  let [lo, hi] = [constantOf(address), constantOf(address) + bytes - 1];
  for (const { coefficient, factors } of termsOf(address)) {
    const [factor] = factors;
    if (factor === undefined || factors.length !== 1) return { lo: -Infinity, hi: Infinity };
    if (factor.op === 'place') continue;
    const ends = [coefficient * factor.lo, coefficient * factor.hi];
    lo += Math.min(...ends);
    hi += Math.max(...ends);
  }
  return lo > -(2 ** 31) && hi < 2 ** 31 ? { lo, hi } : { lo: -Infinity, hi: Infinity };
}
