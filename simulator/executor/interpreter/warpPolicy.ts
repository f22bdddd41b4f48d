import type { IrFunction } from '../../ptx/index.js';
import { postDominators } from '../../ptx/index.js';
import type { Warp } from './warp.js';
import { forEachLane, lowestLane } from './warp.js';

/** What steps next: lanes of one warp, all at `pc` and ready. Good until the next is asked for. */
export interface LaneSet {
  readonly warp: Warp;
  readonly lanes: number;
  readonly pc: number;
}

/**
 * Decides which lanes step together. The interpreter asks for a lane set of a warp, steps it, and tells what became of
 * it; where the lanes went is in the warp's `pcs` and masks.
 */
export interface WarpPolicy {
  /** Called once for each warp before it steps. */
  start(warp: Warp): void;
  /** A set of ready lanes at one pc, or undefined when none of this warp's lanes can step. */
  next(warp: Warp): LaneSet | undefined;
  /** The set has stepped: its lanes may have parted, exited or begun to wait. */
  stepped(set: LaneSet): void;
}

/** Steps of a warp in which a lane that could step is left out, in a kernel whose threads may wait for one another. */
const PATIENCE_STEPS = 2048;

/** Where lanes that parted meet again. */
interface Reconvergence {
  readonly pc: number;
  expected: number;
  arrived: number;
  readonly outer: Reconvergence | undefined;
}

/** One for all steps of a stretch of straight code. */
interface MovingSet extends LaneSet {
  pc: number;
}

interface Split {
  lanes: number;
  readonly into: Reconvergence | undefined;
  /** Instruction that it stepped last: where its lanes parted, if they did. */
  lastPc: number;
}

/** The paths of a warp, the one that steps last, and who has stepped lately. */
interface WarpPaths {
  readonly splits: Split[];
  /** The set that stepped last and its path, as long as all of it stands at the instruction behind. */
  straight: { readonly set: MovingSet; readonly split: Split } | undefined;
  steps: number;
  stepped: number;
}

/**
 * The classic rule: lanes that part at a branch run path after path, that of the highest pc first, and go on together
 * at the branch's immediate post-dominator. It is the stack of the textbooks but for one thing: when the path on top waits for
 * lanes of another path (a warp-level operation), the other path runs, as hardware with a pc a lane does. Where threads
 * may wait for one another through memory, a path that goes on for long lets the others have a turn, too.
 */
export class PostDominatorPolicy implements WarpPolicy {
  /** By index of the warp. */
  private readonly paths: WarpPaths[] = [];
  /** First instruction of the immediate post-dominator of the block that an instruction ends; -1 for none. */
  private readonly meetingPoint: Int32Array;
  /** Whether all lanes that step an instruction step the one behind it next, and no other lane is let go by it. */
  private readonly isStraight: Uint8Array;

  /** @param isFair whether no path may keep the others of its warp from running */
  constructor(
    private readonly fn: IrFunction,
    private readonly isFair = false,
  ) {
    ({ meetingPoint: this.meetingPoint, isStraight: this.isStraight } = flowOf(fn));
  }

  start(warp: Warp): void {
    const splits = [{ lanes: warp.live, into: undefined, lastPc: -1 }];
    this.paths[warp.index] = { splits, straight: undefined, steps: 0, stepped: 0 };
  }

  next(warp: Warp): LaneSet | undefined {
    const paths = this.paths[warp.index] as WarpPaths | undefined;
    if (paths === undefined) return undefined;
    const { splits, straight } = paths;
    if (straight !== undefined && !(this.isFair && paths.steps >= PATIENCE_STEPS)) {
      straight.set.pc += 1;
      return straight.set;
    }
    paths.straight = undefined;
    for (let index = splits.length - 1; index >= 0; index--) this.settle(warp, splits, index);
    if (this.isFair && paths.steps >= PATIENCE_STEPS) this.letOthers(warp, paths);
    for (let index = splits.length - 1; index >= 0; index--) {
      const split = splits[index];
      if (split === undefined || (split.lanes & warp.ready) === 0) continue;
      return { warp, lanes: split.lanes, pc: pcOf(warp, split.lanes) };
    }
    return this.releaseExiting(warp, splits);
  }

  /** When lanes were left out for many steps, they go next, those too that wait for others where paths meet. */
  private letOthers(warp: Warp, paths: WarpPaths): void {
    const { splits, stepped } = paths;
    paths.steps = 0;
    paths.stepped = 0;
    if ((warp.ready & ~stepped) === 0) return;
    splits.unshift(...splits.splice(-1));
    for (const split of [...splits]) {
      for (let at = split.into; at !== undefined; at = at.outer) if (at.arrived !== 0) release(splits, at);
    }
  }

  /**
   * Lanes that have only to leave need not wait for others, who may wait for them: `if (i >= n) return;` before a
   * barrier is a branch to the return at the end, where everyone would meet.
   */
  private releaseExiting(warp: Warp, splits: Split[]): LaneSet | undefined {
    for (const split of splits) {
      for (let at = split.into; at !== undefined; at = at.outer) {
        if (at.arrived === 0 || !this.isExit(at.pc)) continue;
        return { warp, lanes: release(splits, at), pc: at.pc };
      }
    }
    return undefined;
  }

  private isExit(pc: number): boolean {
    const instruction = this.fn.instructions[pc];
    return (
      instruction?.guard === undefined && (instruction?.opcode === 'ret' || instruction?.opcode === 'exit')
    );
  }

  stepped(set: LaneSet): void {
    const paths = this.paths[set.warp.index] as WarpPaths | undefined;
    if (paths === undefined) return;
    paths.steps++;
    paths.stepped |= set.lanes;
    const split =
      paths.straight?.set === set
        ? paths.straight.split
        : paths.splits.find((each) => (each.lanes & set.lanes) !== 0);
    if (split !== undefined) split.lastPc = set.pc;
    const goesOn = split !== undefined && split.lanes === set.lanes && this.isStraight[set.pc] === 1;
    if (!goesOn) paths.straight = undefined;
    else if (paths.straight?.set !== set) paths.straight = { set: { ...set }, split };
  }

  /** Brings one split in line with its lanes' pcs and states: exits, partings, arrivals. */
  private settle(warp: Warp, splits: Split[], index: number): void {
    const split = splits[index];
    if (split === undefined) return;
    if ((split.lanes & ~warp.live) !== 0) {
      split.lanes &= warp.live;
      if (split.lanes === 0) splits.splice(index, 1);
      this.retire(warp, splits, split.into);
      if (split.lanes === 0) return;
    }
    if (areTogether(warp, split.lanes)) {
      this.arrive(warp, splits, split);
      return;
    }
    const meeting = this.meetingPoint[split.lastPc] ?? -1;
    const into =
      meeting < 0 ? split.into : { pc: meeting, expected: split.lanes, arrived: 0, outer: split.into };
    const parts = groupsOf(warp, split.lanes).map((lanes) => ({ lanes, into, lastPc: split.lastPc }));
    splits.splice(index, 1, ...parts);
    for (const part of parts) this.arrive(warp, splits, part);
  }

  /** A split that stands at its meeting point waits there until all who are expected have come. */
  private arrive(warp: Warp, splits: Split[], split: Split): void {
    const { into } = split;
    if (into === undefined || (warp.ready & split.lanes) === 0) return;
    if (pcOf(warp, split.lanes) !== into.pc) return;
    into.arrived |= split.lanes;
    splits.splice(splits.indexOf(split), 1);
    this.complete(warp, splits, into);
  }

  private complete(warp: Warp, splits: Split[], meeting: Reconvergence): void {
    meeting.expected &= warp.live;
    meeting.arrived &= warp.live;
    if (meeting.arrived === 0 || meeting.arrived !== meeting.expected) return;
    const joined: Split = { lanes: meeting.arrived, into: meeting.outer, lastPc: -1 };
    meeting.arrived = 0;
    splits.push(joined);
    this.arrive(warp, splits, joined);
  }

  /** Lanes that exited are no longer expected anywhere up the chain. */
  private retire(warp: Warp, splits: Split[], from: Reconvergence | undefined): void {
    for (let at = from; at !== undefined; at = at.outer) {
      if ((at.expected & ~warp.live) !== 0) this.complete(warp, splits, at);
    }
  }
}

interface Flow {
  readonly meetingPoint: Int32Array;
  readonly isStraight: Uint8Array;
}

const flows = new WeakMap<IrFunction, Flow>();

function flowOf(fn: IrFunction): Flow {
  const known = flows.get(fn);
  if (known !== undefined) return known;
  const { immediate } = postDominators(fn);
  const meetingPoint = new Int32Array(fn.instructions.length).fill(-1);
  const isStraight = Uint8Array.from(fn.instructions, ({ opcode }) => (STRAIGHT.test(opcode) ? 1 : 0));
  for (const block of fn.blocks) {
    isStraight[block.last] = 0;
    const meeting = fn.blocks[immediate[block.index] ?? -1];
    if (meeting !== undefined) meetingPoint[block.last] = meeting.first;
  }
  const flow = { meetingPoint, isStraight };
  flows.set(fn, flow);
  return flow;
}

/** Some of the instructions that neither branch nor wait; for others it is looked where the lanes are. */
const STRAIGHT =
  /^(?:abs|add|and|bfe|bfi|brev|clz|cvt|cvta|div|ex2|fma|ld|ldu|lg2|lop3|mad|max|min|mov|mul|neg|not|or|popc|prmt|rcp|rem|rsqrt|selp|set|setp|shf|shl|shr|sqrt|st|sub|xor)$/;

/**
 * Lets those go on that have come to a meeting point, without those that have not, and without meeting whom they would at
 * the same place later. @returns the lanes
 */
function release(splits: Split[], meeting: Reconvergence): number {
  const lanes = meeting.arrived;
  meeting.arrived = 0;
  let into: Reconvergence | undefined = meeting;
  for (; into !== undefined && into.pc === meeting.pc; into = into.outer) into.expected &= ~lanes;
  splits.push({ lanes, into, lastPc: meeting.pc });
  return lanes;
}

function pcOf(warp: Warp, lanes: number): number {
  return warp.pcs[lowestLane(lanes)] ?? 0;
}

/** Whether lanes stand at one pc, all ready or all waiting. */
function areTogether(warp: Warp, lanes: number): boolean {
  const ready = lanes & warp.ready;
  if (ready !== 0 && ready !== lanes) return false;
  const pc = pcOf(warp, lanes);
  for (let rest = lanes; rest !== 0; rest &= rest - 1) {
    if (warp.pcs[lowestLane(rest)] !== pc) return false;
  }
  return true;
}

/** Lanes by pc and state, the highest pc last, where the policy takes its next split from. */
function groupsOf(warp: Warp, lanes: number): number[] {
  const groups = new Map<number, number>();
  forEachLane(lanes, (lane) => {
    const key = (warp.pcs[lane] ?? 0) * 2 + ((warp.ready >>> lane) & 1);
    groups.set(key, (groups.get(key) ?? 0) | (1 << lane));
  });
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group);
}
