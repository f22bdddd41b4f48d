import { analyzeLoops, type IrFunction, isa } from '../../ptx/index.js';
import { findSpinLoops } from '../compiler/analysis/index.js';
import { LanePaths, MOST_LOOKS } from '../lanePaths/index.js';
import type { Warp } from './warp.js';
import { lowestLane } from './warp.js';

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
  /** A set of ready lanes at one pc, or undefined when none of this warp's lanes can step. */
  next(warp: Warp): LaneSet | undefined;
  /** The set has stepped: its lanes may have parted, exited or begun to wait. */
  stepped(set: LaneSet): void;
}

/** One for all steps of a stretch of straight code. */
interface MovingSet extends LaneSet {
  pc: number;
}

/** The paths of a warp, the one that steps last, and who has stepped lately. */
interface WarpPaths {
  readonly paths: LanePaths;
  /** The set that stepped last and its path, as long as all of it stands at the instruction behind. */
  straight: { readonly set: MovingSet; readonly index: number } | undefined;
  /** How often lanes have looked again since others had a turn. */
  looks: number;
  stepped: number;
}

/**
 * Lanes go by LanePaths. It is the stack of the textbooks but for one thing: when the path on top waits for lanes of another
 * path (a warp-level operation), the other path runs, as hardware with a pc a lane does. Lanes that wait for what
 * others write, and have looked in vain for long, let the others have a turn, too.
 */
export class PostDominatorPolicy implements WarpPolicy {
  /** By index of the warp. */
  private readonly paths: WarpPaths[] = [];
  /** Whether all lanes that step an instruction step the one behind it next, and no other lane is let go by it. */
  private readonly isStraight: Uint8Array;
  /** By the branch on a way back on which threads wait for what others write: where it leads. */
  private readonly lookAgain: ReadonlyMap<number, number>;

  constructor(private readonly fn: IrFunction) {
    this.isStraight = straightOf(fn);
    this.lookAgain = waysBack(fn);
  }

  next(warp: Warp): LaneSet | undefined {
    const of = (this.paths[warp.index] ??= this.begin(warp));
    const { paths, straight } = of;
    if (straight !== undefined) {
      straight.set.pc += 1;
      return straight.set;
    }
    of.straight = undefined;
    paths.settle(warp);
    if (of.looks > MOST_LOOKS) letOthers(warp, of);
    for (let index = paths.count - 1; index >= 0; index--) {
      const lanes = paths.lanesOf(index);
      if ((lanes & warp.ready) === 0) continue;
      return { warp, lanes, pc: warp.pcs[lowestLane(lanes)] ?? 0 };
    }
    const leaving = paths.releaseExiting();
    return leaving === undefined ? undefined : { warp, ...leaving };
  }

  private begin(warp: Warp): WarpPaths {
    return { paths: new LanePaths(this.fn, warp.live), straight: undefined, looks: 0, stepped: 0 };
  }

  stepped(set: LaneSet): void {
    const of = this.paths[set.warp.index] as WarpPaths | undefined;
    if (of === undefined) return;
    if (this.looksAgain(set)) of.looks += 1;
    of.stepped |= set.lanes;
    const { paths } = of;
    const index = of.straight?.set === set ? of.straight.index : paths.indexOf(set.lanes);
    paths.stepped(index, set.pc);
    const goesOn = index >= 0 && paths.lanesOf(index) === set.lanes && this.isStraight[set.pc] === 1;
    if (!goesOn) of.straight = undefined;
    else if (of.straight?.set !== set) of.straight = { set: { ...set }, index };
  }

  private looksAgain({ warp, lanes, pc }: LaneSet): boolean {
    const back = this.lookAgain.get(pc);
    if (back === undefined) return false;
    for (let rest = lanes; rest !== 0; rest &= rest - 1) if (warp.pcs[lowestLane(rest)] === back) return true;
    return false;
  }
}

/** When lanes were left out while others looked many times, they go next. */
function letOthers(warp: Warp, of: WarpPaths): void {
  const { stepped } = of;
  of.looks = 0;
  of.stepped = 0;
  if ((warp.ready & ~stepped) !== 0) of.paths.letOthers();
}

const allWaysBack = new WeakMap<IrFunction, ReadonlyMap<number, number>>();

function waysBack(fn: IrFunction): ReadonlyMap<number, number> {
  let known = allWaysBack.get(fn);
  if (known === undefined) allWaysBack.set(fn, (known = findWaysBack(fn)));
  return known;
}

function findWaysBack(fn: IrFunction): ReadonlyMap<number, number> {
  const loops = findSpinLoops(fn);
  if (!loops.any) return new Map();
  const back = analyzeLoops(fn).retreatingEdges.filter(([from, to]) => loops.isSpin(from, to));
  return new Map(back.map(([from, to]) => [fn.blocks[from]?.last ?? 0, fn.blocks[to]?.first ?? 0]));
}

const straights = new WeakMap<IrFunction, Uint8Array>();

function straightOf(fn: IrFunction): Uint8Array {
  const known = straights.get(fn);
  if (known !== undefined) return known;
  const isStraight = Uint8Array.from(fn.instructions, ({ opcode }) => (goesStraight(opcode) ? 1 : 0));
  for (const block of fn.blocks) isStraight[block.last] = 0;
  straights.set(fn, isStraight);
  return isStraight;
}

/** Some of the instructions that neither branch nor wait; for others it is looked where the lanes are. */
function goesStraight(opcode: string): boolean {
  const { kind } = isa(opcode).effects;
  return kind === 'pure' || kind === 'address' || kind === 'load' || kind === 'store';
}
