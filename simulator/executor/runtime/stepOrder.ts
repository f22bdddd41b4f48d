import { RECORD, WARP_SIZE, type SyncPoint } from '../compiler/index.js';
import { forEachLane, LanePaths, MOST_LOOKS } from '../lanePaths/index.js';
import type { BlockLaunch } from './blockLaunch.js';
import type { BlockState } from './blockState.js';
import type { ReadyKernel } from './kernelCache.js';
import type { LaunchArea } from './launchArea.js';

/** Lanes of a warp at one state. */
export interface LaneGroup {
  readonly state: number;
  readonly mask: number;
}

/** Tells which lanes of a group can go on now; 0 for none, undefined for whoever goes with those who are there. */
export type CanRun = (group: LaneGroup) => number | undefined;

/**
 * Which lanes of a parted warp go next when it shows that lanes go in step: those of the path that is to go first, as
 * LanePaths has it. Lanes that wait for what others write, in vain, let the other paths go on.
 */
export class StepOrder {
  private readonly pcs = new Float64Array(WARP_SIZE);
  private readonly states = new Int32Array(WARP_SIZE);
  /** By the state at which lanes look again: which they were and what the warp's lanes held when they last did. */
  private readonly before = new Map<number, { readonly mask: number; readonly contexts: Int32Array }>();
  private looks = 0;
  private wrote = 0;
  /** Lanes that have looked in vain in this turn. */
  private spun = 0;

  constructor(
    private readonly area: LaunchArea,
    private readonly launch: BlockLaunch,
    private readonly kernel: ReadyKernel,
  ) {}

  /** The warp's turn begins. */
  begin(): void {
    this.spun = 0;
    this.looks = 0;
    this.before.clear();
  }

  /** Whether all living lanes go one way, and nobody waits for others of them. */
  isOnePath(block: BlockState, warp: number): boolean {
    const paths = this.pathsOf(block, warp);
    this.settle(block, warp, paths);
    return paths.count === 1 && !paths.hasArrived;
  }

  /** The lanes that go next; undefined when none can. @param groups living lanes that do not wait at a barrier, by state */
  next(block: BlockState, warp: number, groups: readonly LaneGroup[], canRun: CanRun): LaneGroup | undefined {
    const between = groups.find(({ state }) => this.point(state)?.scope === 'quantum');
    if (between !== undefined) return between;
    const paths = this.pathsOf(block, warp);
    for (;;) {
      this.settle(block, warp, paths);
      let others: LaneGroup | undefined;
      for (let index = paths.count - 1; index >= 0; index--) {
        const group = this.firstOf(paths.lanesOf(index));
        if (group === undefined) continue;
        const isSpin = this.point(group.state)?.scope === 'spin';
        const all = groups.find(({ state }) => state === group.state)?.mask ?? 0;
        if (isSpin && (group.mask & ~this.spun) !== 0 && this.isInVain(warp, group)) this.spun |= group.mask;
        const able = isSpin ? group.mask & ~this.spun : canRun({ state: group.state, mask: all });
        if (able === undefined) others ??= group;
        else if ((able & group.mask) !== 0)
          return { state: group.state, mask: this.isWarpWait(group.state) ? able : able & group.mask };
      }
      if (this.spun !== 0 && paths.hasArrived) paths.letOthers();
      else if (paths.releaseExiting() === undefined) return others;
    }
  }

  /** Whether nothing has come of it that lanes looked again, or not for long: then others have their turn. */
  private isInVain(warp: number, { state, mask }: LaneGroup): boolean {
    const contexts = this.area.contexts(this.kernel.compiled, warp);
    const last = this.before.get(state);
    const isSame =
      last?.mask === mask &&
      !this.hasWritten() &&
      contexts.every((word, index) => word === last.contexts[index]);
    this.looks += 1;
    if (isSame || this.looks > MOST_LOOKS) return true;
    this.before.set(state, { mask, contexts: contexts.slice() });
    return false;
  }

  /** Whether anything has been written since it was asked last. */
  private hasWritten(): boolean {
    const all = this.area.get(RECORD.wrote);
    this.wrote |= all;
    this.area.set(RECORD.wrote, 0);
    return all !== 0;
  }

  /** The warp's turn ends: what it has written counts for the others. */
  end(): void {
    if (this.wrote !== 0) this.area.set(RECORD.wrote, this.wrote | this.area.get(RECORD.wrote));
    this.wrote = 0;
  }

  private pathsOf(block: BlockState, warp: number): LanePaths {
    return (block.paths[warp] ??= new LanePaths(this.launch.kernel, block.alive[warp] ?? 0));
  }

  private settle(block: BlockState, warp: number, paths: LanePaths): void {
    const live = block.alive[warp] ?? 0;
    forEachLane(live, (lane) => {
      const state = this.area.state(warp * WARP_SIZE + lane);
      const point = this.point(state);
      this.states[lane] = state;
      // Behind a wait that has not ended stands nobody else.
      this.pcs[lane] = point === undefined ? 0 : point.instruction + (point.isOnEdge ? 0 : 0.5);
    });
    for (let index = 0; index < paths.count; index++) {
      let parts = -1;
      forEachLane(paths.lanesOf(index) & live, (lane) => {
        parts = this.point(this.states[lane] ?? 0)?.parts ?? parts;
      });
      paths.stepped(index, parts);
    }
    paths.settle({ pcs: this.pcs, ready: live, live });
  }

  /** Of a path's lanes, those that go first: who stands on a way to where the others are goes there. */
  private firstOf(lanes: number): LaneGroup | undefined {
    let found: { state: number; mask: number; rank: number } | undefined;
    forEachLane(lanes, (lane) => {
      const state = this.states[lane] ?? 0;
      const rank = this.rankOf(state);
      if (found === undefined || rank < found.rank) found = { state, mask: 1 << lane, rank };
      else if (state === found.state) found.mask |= 1 << lane;
    });
    return found;
  }

  private rankOf(state: number): number {
    const point = this.point(state);
    if (point?.parts !== undefined) return 0;
    return point?.scope === 'spin' ? 1 : 2;
  }

  private isWarpWait(state: number): boolean {
    return this.point(state)?.scope === 'warp';
  }

  private point(state: number): SyncPoint | undefined {
    return this.kernel.compiled.syncPoints[state - 1];
  }
}
