import { type IrFunction, isReturn, postDominators } from '../../ptx/index.js';
import { forEachLane, lowestLane, populationCount } from './laneMasks.js';

/** Where the lanes of a warp stand: next instruction of each, which can step, and which have not ended. */
export interface Standing {
  readonly pcs: ArrayLike<number>;
  readonly ready: number;
  readonly live: number;
}

/** Where lanes that parted meet again. */
interface Reconvergence {
  readonly pc: number;
  expected: number;
  arrived: number;
  readonly outer: Reconvergence | undefined;
}

/** Times that waiting lanes look again before lanes that they may wait for go on without them. */
export const MOST_LOOKS = 256;

interface Split {
  lanes: number;
  readonly into: Reconvergence | undefined;
  /** Instruction that it stepped last: where its lanes parted, if they did. */
  lastPc: number;
}

/**
 * The paths that lanes of a warp have parted into, by the classic rule: lanes that part at a branch run path after path
 * and go on together at the branch's immediate post-dominator.
 */
export class LanePaths {
  private readonly splits: Split[];
  private readonly meetingPoint: Int32Array;

  /** @param lanes that begin together */
  constructor(
    private readonly fn: IrFunction,
    lanes: number,
  ) {
    this.meetingPoint = meetingPoints(fn);
    this.splits = [{ lanes, into: undefined, lastPc: -1 }];
  }

  get count(): number {
    return this.splits.length;
  }

  /** Lanes of a path; the one that goes first has the highest index. */
  lanesOf(index: number): number {
    return this.splits[index]?.lanes ?? 0;
  }

  /** Whether lanes wait where paths meet. */
  get hasArrived(): boolean {
    return this.splits.some(({ into }) => {
      for (let at = into; at !== undefined; at = at.outer) if (at.arrived !== 0) return true;
      return false;
    });
  }

  /** A path's lanes have stepped the instruction at `pc`. */
  stepped(index: number, pc: number): void {
    const split = this.splits[index];
    if (split !== undefined) split.lastPc = pc;
  }

  /** The index of the path of some lanes; -1 for none. */
  indexOf(lanes: number): number {
    return this.splits.findIndex((each) => (each.lanes & lanes) !== 0);
  }

  /** Brings the paths in line with their lanes' pcs and states: exits, partings, arrivals. */
  settle(at: Standing): void {
    for (let index = this.splits.length - 1; index >= 0; index--) this.settleOne(at, index);
  }

  /** Those go next that have been left out, those too that wait for others where paths meet. */
  letOthers(): void {
    this.splits.unshift(...this.splits.splice(-1));
    for (const split of [...this.splits]) {
      for (let at = split.into; at !== undefined; at = at.outer) if (at.arrived !== 0) this.release(at);
    }
  }

  /**
   * Lanes that have only to leave need not wait for others, who may wait for them: `if (i >= n) return;` before a
   * barrier is a branch to the return at the end, where everyone would meet. @returns the lanes let go, and where they are
   */
  releaseExiting(): { readonly lanes: number; readonly pc: number } | undefined {
    for (const split of this.splits) {
      for (let at = split.into; at !== undefined; at = at.outer) {
        if (at.arrived === 0 || !this.isExit(at.pc)) continue;
        return { lanes: this.release(at), pc: at.pc };
      }
    }
    return undefined;
  }

  private isExit(pc: number): boolean {
    const instruction = this.fn.instructions[pc];
    return instruction?.guard === undefined && isReturn(instruction?.opcode ?? '');
  }

  private settleOne(at: Standing, index: number): void {
    const { splits } = this;
    const split = splits[index];
    if (split === undefined) return;
    if ((split.lanes & ~at.live) !== 0) {
      split.lanes &= at.live;
      if (split.lanes === 0) splits.splice(index, 1);
      this.retire(at, split.into, index);
      if (split.lanes === 0) return;
    }
    if (areTogether(at, split.lanes)) {
      this.arrive(at, split);
      return;
    }
    const meeting = this.meetingPoint[split.lastPc] ?? -1;
    const into =
      meeting < 0 ? split.into : { pc: meeting, expected: split.lanes, arrived: 0, outer: split.into };
    const parts = groupsOf(at, split.lanes, split.lastPc).map((lanes) => ({
      lanes,
      into,
      lastPc: split.lastPc,
    }));
    splits.splice(index, 1, ...parts);
    for (const part of parts) this.arrive(at, part);
  }

  /** A split that stands at its meeting point waits there until all who are expected have come. */
  private arrive(at: Standing, split: Split): void {
    const { into } = split;
    if (into === undefined || (at.ready & split.lanes) === 0) return;
    if (at.pcs[lowestLane(split.lanes)] !== into.pc) return;
    into.arrived |= split.lanes;
    const index = this.splits.indexOf(split);
    this.splits.splice(index, 1);
    this.complete(at, into, index);
  }

  /** @param index of the path that came last: in its turn all go on */
  private complete(at: Standing, meeting: Reconvergence, index: number): void {
    meeting.expected &= at.live;
    meeting.arrived &= at.live;
    if (meeting.arrived === 0 || meeting.arrived !== meeting.expected) return;
    const joined: Split = { lanes: meeting.arrived, into: meeting.outer, lastPc: -1 };
    meeting.arrived = 0;
    this.splits.splice(index, 0, joined);
    this.arrive(at, joined);
  }

  /** Lanes that exited are no longer expected anywhere up the chain. */
  private retire(at: Standing, from: Reconvergence | undefined, index: number): void {
    for (let meeting = from; meeting !== undefined; meeting = meeting.outer) {
      if ((meeting.expected & ~at.live) !== 0) this.complete(at, meeting, index);
    }
  }

  /**
   * Lets those go on that have come to a meeting point, without those that have not, and without meeting whom they would
   * at the same place later. @returns the lanes
   */
  private release(meeting: Reconvergence): number {
    const lanes = meeting.arrived;
    meeting.arrived = 0;
    let into: Reconvergence | undefined = meeting;
    for (; into !== undefined && into.pc === meeting.pc; into = into.outer) into.expected &= ~lanes;
    this.splits.push({ lanes, into, lastPc: meeting.pc });
    return lanes;
  }
}

const known = new WeakMap<IrFunction, Int32Array>();

/** First instruction of the immediate post-dominator of the block that an instruction ends; -1 for none. */
function meetingPoints(fn: IrFunction): Int32Array {
  let found = known.get(fn);
  if (found !== undefined) return found;
  const { immediate } = postDominators(fn);
  found = new Int32Array(fn.instructions.length).fill(-1);
  for (const block of fn.blocks) {
    const meeting = fn.blocks[immediate[block.index] ?? -1];
    if (meeting !== undefined) found[block.last] = meeting.first;
  }
  known.set(fn, found);
  return found;
}

/** Whether lanes stand at one pc, all ready or all waiting. */
function areTogether({ pcs, ready: able }: Standing, lanes: number): boolean {
  const ready = lanes & able;
  if (ready !== 0 && ready !== lanes) return false;
  const pc = pcs[lowestLane(lanes)];
  for (let rest = lanes; rest !== 0; rest &= rest - 1) {
    if (pcs[lowestLane(rest)] !== pc) return false;
  }
  return true;
}

/**
 * Lanes by pc and state, that path last which goes first, as measured on an H200: of the two ways of a branch the one of
 * fewer lanes, of equally many the one that falls through; of the targets of a switch that of the lowest lane.
 */
function groupsOf({ pcs, ready }: Standing, lanes: number, lastPc: number): number[] {
  const groups = new Map<number, number>();
  forEachLane(lanes, (lane) => {
    const key = (pcs[lane] ?? 0) * 2 + ((ready >>> lane) & 1);
    groups.set(key, (groups.get(key) ?? 0) | (1 << lane));
  });
  const [first = 0, second = 0, ...others] = groups.values();
  if (others.length > 0) return [...groups.values()].reverse();
  const more = populationCount(first) - populationCount(second);
  if (more !== 0) return more > 0 ? [first, second] : [second, first];
  return pcs[lowestLane(first)] === lastPc + 1 ? [second, first] : [first, second];
}
