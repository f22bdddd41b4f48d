import { type IrFunction, isStore, isUpdate, isWait, writtenRegisters } from '../../../ptx/index.js';
import { syncScope } from '../instructions/index.js';
import { laneAccesses, meetingOf, type LaneAccess, type Meeting } from './laneAccesses.js';
import { between, laneValuesOf, leaves, type LaneValues } from './laneValues.js';
import { loneThreads } from './loneThreads.js';
import { LinearForms } from './linearForms.js';
import { overwritesOf } from './overwrites.js';
import { ThreadSampler } from './threadSamples.js';

/** Where lanes of a warp must be together, so that what one sees of another's accesses is what a card shows. */
export interface StepPlan {
  /** Instructions before which the lanes of one path wait for one another. */
  readonly before: ReadonlySet<number>;
  /** Stores in which lanes may overwrite one another, alone between two such places, and their bytes a lane. */
  readonly stores: ReadonlyMap<number, number>;
  /** Blocks behind whose branch lanes may go on by different ways, which are taken one after another. */
  readonly parting: ReadonlySet<number>;
  /** Immediate post-dominator of each block. */
  readonly meeting: Int32Array;
}

/** Where threads stop for other reasons than that lanes go in step. */
export interface OtherStops {
  /** Whether threads give way to one another, at `nanosleep` too: lanes that are on one way may be parted all the same. */
  readonly givesWay: boolean;
  /** Whether a thread waits for what others write when it goes from one block to another. */
  isSpin(from: number, to: number): boolean;
}

/** @param openArrays names of shared arrays of open extent */
export function planSteps(
  fn: IrFunction,
  openArrays: readonly string[],
  others: OtherStops,
): StepPlan | undefined {
  if (!fn.instructions.some(mayNeedSteps)) return undefined;
  const values = laneValuesOf(fn);
  const forms = new LinearForms(fn, values, openArrays);
  const { ofBlock: lone, ofGuard } = loneThreads(fn, forms);
  const blockOf = new Int32Array(fn.instructions.length);
  for (const { index, first, last } of fn.blocks) blockOf.fill(index, first, last + 1);
  const sampler = new ThreadSampler(fn, forms, values);
  const accesses = laneAccesses(fn, forms, sampler, (at) => ofGuard(at) ?? lone[blockOf[at] ?? 0]);
  const overwrites = overwritesOf(fn, values, forms, sampler, accesses);
  const stores = new Map(overwrites.stores.map(({ at, bytes }) => [at, bytes]));
  const alone = new Set(others.givesWay ? overwrites.updates.map(({ at }) => at) : []);
  for (const at of stores.keys()) standAlone(fn, blockOf[at] ?? 0, at, alone);
  const before = new Conflicts(fn, values, forms, accesses).find(alone);
  if (before.size === 0) return undefined;
  const stops = fn.instructions.map(
    (each) =>
      before.has(each.index) || syncScope(each) !== undefined || (others.givesWay && isWait(each.opcode)),
  );
  const leavesOnEdge = (block: number): boolean =>
    fn.blocks[block]?.successors.some((next) => others.isSpin(block, next)) === true;
  const parting = new Set<number>();
  for (const branch of values.parting) {
    const inside = between(fn, fn.blocks[branch]?.successors ?? [], values.meeting[branch] ?? -1);
    const parts = [...inside].some((block) => holds(fn, block, stops) || leavesOnEdge(block));
    if (!parts && !leavesOnEdge(branch)) continue;
    parting.add(branch);
    for (const block of inside) stopBehindExchanges(fn, block, before);
    const meeting = fn.blocks[values.meeting[branch] ?? -1];
    if (meeting !== undefined && !leaves(fn, meeting.index)) before.add(meeting.first);
  }
  return { before, stores, parting, meeting: values.meeting };
}

/** Lanes wait for one another before an instruction and behind it. */
function standAlone(fn: IrFunction, index: number, at: number, before: Set<number>): void {
  before.add(at);
  const block = fn.blocks[index];
  if (block === undefined) return;
  const behind = at < block.last ? [at + 1] : block.successors.map((next) => fn.blocks[next]?.first ?? 0);
  for (const each of behind) {
    const instruction = fn.instructions[each];
    if (instruction !== undefined && syncScope(instruction) === undefined) before.add(each);
  }
}

/** What lanes of several paths do together is one instruction: behind it each path goes on by itself. */
function stopBehindExchanges(fn: IrFunction, index: number, before: Set<number>): void {
  const block = fn.blocks[index];
  for (let at = block?.first ?? 0; at < (block?.last ?? -1); at++) {
    const instruction = fn.instructions[at];
    if (instruction !== undefined && syncScope(instruction) === 'warp') before.add(at + 1);
  }
}

function mayNeedSteps({ opcode, modifiers }: IrFunction['instructions'][number]): boolean {
  if (isUpdate(opcode)) return true;
  return isStore(opcode) && !modifiers.includes('local') && !modifiers.includes('param');
}

function holds(fn: IrFunction, index: number, stops: readonly boolean[]): boolean {
  const block = fn.blocks[index];
  for (let at = block?.first ?? 0; at <= (block?.last ?? -1); at++) if (stops[at] === true) return true;
  return false;
}

/** Accesses that a lane may have behind it since it was last together with the others; whether their addresses are stale. */
type Pending = Map<LaneAccess, boolean>;

/** Finds before which accesses lanes must be together. */
class Conflicts {
  private readonly before = new Set<number>();
  private readonly ofInstruction = new Map<number, LaneAccess[]>();
  private readonly ofBlock: readonly LaneAccess[][];
  /** Accesses whose addresses are made of a register. */
  private readonly madeOf = new Map<number, LaneAccess[]>();
  private readonly fixed: ReadonlySet<LaneAccess>;
  private readonly writes: readonly (readonly number[])[];
  /** Whether lanes read with plain accesses what other lanes have written with plain ones, by space. */
  private readonly plain = { shared: false, global: false };
  private readonly order: readonly number[];
  private readonly known = new Map<LaneAccess, Map<LaneAccess, Meeting>>();

  constructor(
    private readonly fn: IrFunction,
    private readonly values: LaneValues,
    private readonly forms: LinearForms,
    private readonly accesses: readonly LaneAccess[],
  ) {
    for (const access of accesses) {
      pushTo(this.ofInstruction, access.at, access);
      for (const register of forms.registersOf(access.form)) pushTo(this.madeOf, register, access);
    }
    this.ofBlock = fn.blocks.map(() => []);
    fn.blocks.forEach(({ first, last }, index) => {
      for (let at = first; at <= last; at++)
        this.ofBlock[index]?.push(...(this.ofInstruction.get(at) ?? NONE));
    });
    this.fixed = new Set(accesses.filter(({ form }) => forms.isFixed(form)));
    this.writes = fn.instructions.map(writtenRegisters);
    this.order = reversePostorder(fn);
  }

  /** @param known before which lanes are together for other reasons */
  find(known: ReadonlySet<number>): Set<number> {
    if (this.accesses.some(({ isStrong }) => !isStrong))
      this.flow((earlier, later, meeting) => this.notePlain(earlier, later, meeting));
    for (const at of known) this.before.add(at);
    let rounds = 0;
    for (let size = -1; size !== this.before.size;) {
      size = this.before.size;
      this.flow((earlier, later, meeting) => {
        if (this.counts(earlier, later, meeting)) this.before.add(later.at);
      });
      // What it adds does not depend on what is there.
      if (rounds++ === 0) this.acrossSides();
    }
    return this.before;
  }

  /** What is stored and then loaded by plain accesses without anything between that makes lanes wait. */
  private notePlain(earlier: LaneAccess, later: LaneAccess, meeting: Meeting): void {
    if (earlier.isStrong || later.isStrong || !earlier.writes || !later.reads) return;
    if (earlier.space === 'shared' && later.space === 'shared') this.plain.shared = true;
    else if (meeting === 'certainly' && earlier.root !== undefined) this.plain.global = true;
  }

  private counts(earlier: LaneAccess, later: LaneAccess, meeting: Meeting): boolean {
    if (earlier.isStrong || later.isStrong) return true;
    const isSeen = meeting === 'certainly' && earlier.writes && later.writes;
    if (earlier.space === 'shared' && later.space === 'shared') return isSeen || this.plain.shared;
    return (isSeen || this.plain.global) && meeting === 'certainly' && earlier.root !== undefined;
  }

  /** Tells of each access what may be pending when a lane comes to it and may meet it. */
  private flow(meet: (earlier: LaneAccess, later: LaneAccess, meeting: Meeting) => void): void {
    const into = this.fn.blocks.map((): Pending => new Map());
    const isOpen = new Uint8Array(into.length).fill(1);
    for (let changed = true; changed;) {
      changed = false;
      for (const index of this.order) {
        if (isOpen[index] === 0) continue;
        isOpen[index] = 0;
        const out = this.through(index, new Map(into[index]), meet);
        for (const next of this.fn.blocks[index]?.successors ?? []) {
          const there = into[next];
          if (there === undefined) continue;
          for (const [access, isStale] of out) {
            const before = there.get(access);
            if (before === true || before === isStale) continue;
            there.set(access, isStale);
            isOpen[next] = 1;
            changed = true;
          }
        }
      }
    }
  }

  private through(
    index: number,
    pending: Pending,
    meet: (earlier: LaneAccess, later: LaneAccess, meeting: Meeting) => void,
  ): Pending {
    const block = this.fn.blocks[index];
    for (let at = block?.first ?? 0; at <= (block?.last ?? -1); at++) {
      const instruction = this.fn.instructions[at];
      if (instruction === undefined) continue;
      if (syncScope(instruction) !== undefined && instruction.guard === undefined) pending.clear();
      const here = this.ofInstruction.get(at) ?? NONE;
      for (const later of here) {
        for (const [earlier, isStale] of pending) {
          const meeting = this.meeting(earlier, later, isStale);
          if (meeting !== 'never') meet(earlier, later, meeting);
        }
      }
      if (this.before.has(at)) pending.clear();
      for (const access of here) pending.set(access, false);
      if (pending.size === 0) continue;
      for (const register of this.writes[at] ?? []) {
        for (const access of this.madeOf.get(register) ?? NONE)
          if (pending.has(access)) pending.set(access, true);
      }
    }
    return pending;
  }

  /**
   * Accesses on different ways behind one branch: those of one way come before those of the other, where both ways lead
   * through one piece of code too.
   */
  private acrossSides(): void {
    for (const branch of this.values.parting) {
      const { successors = [] } = this.fn.blocks[branch] ?? {};
      const meeting = this.values.meeting[branch] ?? -1;
      const sides = successors.map((next) => this.within(between(this.fn, [next], meeting)));
      sides.forEach((side, index) => {
        for (const other of sides.slice(index + 1)) this.betweenSides(side, other);
      });
    }
  }

  private betweenSides(side: readonly LaneAccess[], other: readonly LaneAccess[]): void {
    for (const one of side) {
      const isFixed = this.fixed.has(one);
      for (const another of other) {
        const meeting = this.meeting(one, another, !isFixed || !this.fixed.has(another));
        if (meeting === 'never' || !this.counts(one, another, meeting)) continue;
        this.before.add(one.at).add(another.at);
      }
    }
  }

  private within(blocks: ReadonlySet<number>): LaneAccess[] {
    return [...blocks].flatMap((index) => this.ofBlock[index] ?? []);
  }

  private meeting(earlier: LaneAccess, later: LaneAccess, isStale: boolean): Meeting {
    if (isStale) return meetingOf(earlier, later, true, this.forms);
    let of = this.known.get(earlier);
    if (of === undefined) {
      of = new Map<LaneAccess, Meeting>();
      this.known.set(earlier, of);
    }
    let found = of.get(later);
    if (found === undefined) of.set(later, (found = meetingOf(earlier, later, false, this.forms)));
    return found;
  }
}

const NONE: readonly LaneAccess[] = [];

function pushTo(lists: Map<number, LaneAccess[]>, key: number, access: LaneAccess): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [access]);
  else list.push(access);
}

function reversePostorder(fn: IrFunction): number[] {
  const order: number[] = [];
  const seen = new Set([0]);
  const stack = [{ block: 0, next: 0 }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const successor = fn.blocks[top.block]?.successors[top.next];
    top.next += 1;
    if (successor === undefined) {
      order.push(top.block);
      stack.pop();
    } else if (!seen.has(successor)) {
      seen.add(successor);
      stack.push({ block: successor, next: 0 });
    }
  }
  return order.reverse();
}
