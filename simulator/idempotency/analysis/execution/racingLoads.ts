import { isBarrier, isCopy, isPlainLoad, writesMemory } from '../../../ptx/index.js';
import type { IrFunction, IrInstruction } from '../../../ptx/index.js';

/**
 * Loads of shared memory that share an interval between barriers with a store of it, before them, behind them or on another
 * branch: another thread's store may or may not have happened, so that two runs may read different values. So they do where
 * nothing has been stored before, in local memory, too.
 */
export function racingLoads(fn: IrFunction): ReadonlySet<number> {
  const all = intervals(fn);
  const found = new Set([...unwrittenLoads(fn, all), ...unwrittenLocals(fn)]);
  for (const { stores, loads } of all) {
    if (stores.size > 0) for (const load of loads) found.add(load);
  }
  return found;
}

/** Loads of shared memory that nothing can have been stored to before: they find what others have left there. */
function unwrittenLoads(fn: IrFunction, [start, ...others]: readonly Interval[]): number[] {
  const isNever = others.every(({ stores }) => stores.size === 0) && start?.stores.size === 0;
  const early = isNever ? [start, ...others] : [start];
  const loads = early.flatMap((interval) => [...(interval?.loads ?? [])]);
  // Generic ones are of other memory as a rule.
  return loads.filter((load) => fn.instructions.some((each) => each.index === load && !isGeneric(each)));
}

/** Loads of local memory in a kernel that stores nothing there. */
function unwrittenLocals({ instructions }: IrFunction): number[] {
  const isLocal = ({ modifiers }: IrInstruction): boolean => modifiers.includes('local');
  const stores = instructions.some((each) => writesMemory(each.opcode) && (isLocal(each) || isGeneric(each)));
  const loads = stores ? [] : instructions.filter((each) => isPlainLoad(each.opcode) && isLocal(each));
  return loads.map(({ index }) => index);
}

/** Asynchronous copies that may be under way still when the thread comes to a barrier: they land in a later interval. */
function lateCopies(fn: IrFunction): number[] {
  return fn.instructions
    .filter(copiesAsync)
    .map(({ index }) => index)
    .filter((index) => {
      const later = reached(fn, index + 1, waitsForCopies);
      return fn.instructions.some((each) => later.has(each.index) && isBarrierOfAll(each));
    });
}

function copiesAsync({ opcode, sources, modifiers }: IrInstruction): boolean {
  return isCopy(opcode) && sources.length > 0 && !modifiers.includes('wait_group');
}

/** Waits for all copies of the thread, whatever predicates say. */
function waitsForCopies({ opcode, modifiers, sources: [groups], guard }: IrInstruction): boolean {
  if (!isCopy(opcode) || guard !== undefined) return false;
  if (modifiers.includes('wait_all')) return true;
  return modifiers.includes('wait_group') && groups?.kind === 'integer' && groups.low === 0;
}

/** Instructions that a thread may come to from `from` on, up to those where `ends` holds. */
function reached(fn: IrFunction, from: number, ends: (instruction: IrInstruction) => boolean): Set<number> {
  const found = new Set<number>();
  const block = fn.blocks.find(({ first, last }) => first <= from && from <= last);
  const places = block === undefined ? [] : [{ block, at: from }];
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    let at = place.at;
    for (; at <= place.block.last; at++) {
      const instruction = fn.instructions[at];
      if (found.has(at) || (instruction !== undefined && ends(instruction))) break;
      found.add(at);
    }
    if (at <= place.block.last) continue;
    for (const successor of place.block.successors) {
      const next = fn.blocks[successor];
      if (next !== undefined) places.push({ block: next, at: next.first });
    }
  }
  return found;
}

/** Stores to shared memory that no barrier of the block is between: their instructions' indices. */
export function storingTogether(fn: IrFunction): readonly ReadonlySet<number>[] {
  return intervals(fn).map(({ stores }) => stores);
}

/** What the threads of a block may do from one moment at which all are released to the next. */
interface Interval {
  /** Indices of instructions. */
  readonly stores: Set<number>;
  readonly loads: Set<number>;
  /** Barriers that may end it: indices of instructions. */
  readonly ends: Set<number>;
}

/**
 * Intervals of a kernel: from its start, and behind each barrier. Barriers that may end one interval may release threads of
 * a block at the same moment (each side of a branch has its own), so that what follows them is one interval.
 */
function intervals(fn: IrFunction): readonly Interval[] {
  const behind = new Map<number, Interval>();
  const start = walk(fn, 0);
  const open = [start];
  for (let interval = open.pop(); interval !== undefined; interval = open.pop()) {
    let next: Interval | undefined;
    for (const barrier of [...interval.ends]) {
      let own = behind.get(barrier);
      if (own === undefined) {
        own = walk(fn, barrier + 1);
        open.push(own);
      }
      next ??= own;
      behind.set(barrier, next);
      if (own !== next) open.push(join(next, own, behind));
    }
  }
  const found = [start, ...new Set(behind.values())];
  const late = lateCopies(fn);
  for (const { stores } of found) for (const copy of late) stores.add(copy);
  return found;
}

/** Adds what may happen in `other` to `interval`, and puts it in the other's place. */
function join(interval: Interval, other: Interval, behind: Map<number, Interval>): Interval {
  for (const store of other.stores) interval.stores.add(store);
  for (const load of other.loads) interval.loads.add(load);
  for (const end of other.ends) interval.ends.add(end);
  for (const [barrier, each] of behind) if (each === other) behind.set(barrier, interval);
  return interval;
}

/** What may come from the instruction `from` on, up to the next barriers. */
function walk(fn: IrFunction, from: number): Interval {
  const interval: Interval = { stores: new Set(), loads: new Set(), ends: new Set() };
  const entered = new Set<number>();
  const block = fn.blocks.find(({ first, last }) => first <= from && from <= last);
  const places = block === undefined ? [] : [{ block, at: from }];
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    if (endsWithin(fn, place.at, place.block.last, interval)) continue;
    for (const successor of place.block.successors) {
      const next = fn.blocks[successor];
      if (next === undefined || entered.has(successor)) continue;
      entered.add(successor);
      places.push({ block: next, at: next.first });
    }
  }
  return interval;
}

/** Adds the instructions `[first, last]` up to a barrier that all threads of theirs wait at; false where none is there. */
function endsWithin(fn: IrFunction, first: number, last: number, interval: Interval): boolean {
  for (let index = first; index <= last; index++) {
    const instruction = fn.instructions[index];
    if (instruction === undefined) continue;
    if (storesShared(instruction)) interval.stores.add(index);
    if (loadsShared(instruction)) interval.loads.add(index);
    if (!isBarrierOfAll(instruction)) continue;
    interval.ends.add(index);
    if (instruction.guard === undefined) return true;
  }
  return false;
}

function isShared({ modifiers }: IrInstruction): boolean {
  return modifiers.some((each) => each.startsWith('shared'));
}

/** Accesses without a space may be to shared memory. */
function isGeneric({ modifiers }: IrInstruction): boolean {
  return !modifiers.some((each) => /^(global|shared|local|param|const)/.test(each));
}

function loadsShared(instruction: IrInstruction): boolean {
  return isPlainLoad(instruction.opcode) && (isShared(instruction) || isGeneric(instruction));
}

function storesShared(instruction: IrInstruction): boolean {
  const { opcode } = instruction;
  return (
    (writesMemory(opcode) && (isShared(instruction) || isGeneric(instruction))) || copiesAsync(instruction)
  );
}

/** A barrier of the whole block: one with a number of threads may leave out the ones that store. */
function isBarrierOfAll({ opcode, modifiers, sources }: IrInstruction): boolean {
  const isOfBlock = sources.length === (modifiers.includes('red') ? 2 : 1);
  return (
    isBarrier(opcode) &&
    isOfBlock &&
    !modifiers.includes('arrive') &&
    !modifiers.includes('warp') &&
    !modifiers.includes('cluster')
  );
}
