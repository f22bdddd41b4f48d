import { RECORD, REGION_RESULT, WARP_SIZE, type SyncPoint } from '../compiler/index.js';
import type { KernelFault } from '../types.js';
import type { BlockLaunch } from './blockLaunch.js';
import { BlockBarriers } from './blockBarriers.js';
import type { BlockState } from './blockState.js';
import { makeFault, readFault } from './faults.js';
import type { ReadyKernel } from './kernelCache.js';
import { forEachLane, lowestLane } from '../lanePaths/index.js';
import type { LaunchArea } from './launchArea.js';
import { StepOrder, type LaneGroup } from './stepOrder.js';

/**
 * How a block's turn ended: every thread has ended; a fault; all that can run wait for what others write (`moved` tells
 * whether anything else happened before); its fuel is used up; the block driver can take it on, since a barrier has opened
 * and the lanes of all its warps are together.
 */
export type TurnEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'fault'; readonly fault: KernelFault }
  | { readonly kind: 'spin'; readonly moved: boolean }
  /** All that can run wait for other blocks of the cluster. */
  | { readonly kind: 'cluster'; readonly moved: boolean }
  | { readonly kind: 'fuel' }
  | { readonly kind: 'together' };

const DONE: TurnEnd = { kind: 'done' };

/** How a warp's turn ended. `waits`: something ran; `stuck`: nothing could. */
type WarpEnd = 'waits' | 'stuck' | 'spins' | 'fault' | 'fuel';

/** The warp's lanes have parted or come together: it goes on in the other way. */
type WarpStep = WarpEnd | 'changed';

/**
 * Runs the warps of one block of a kernel whose threads wait for one another. A warp runs until all its lanes wait at a
 * barrier of the block, spin or have ended; a barrier opens when its threads have come.
 *
 * Most warps stay together: then one call runs all lanes from one wait to the next. Lanes that part are met again by
 * the member masks of their instructions.
 */
export class BlockScheduler {
  private readonly barriers: BlockBarriers;
  private readonly takesTurns: boolean;
  /** Of kernels whose lanes are seen to go in step. */
  private readonly order: StepOrder | undefined;
  private fault: KernelFault | undefined;

  /** @param stopsWithoutFuel whether a block that has used up its fuel only stops, instead of faulting. */
  constructor(
    private readonly area: LaunchArea,
    private readonly launch: BlockLaunch,
    private readonly kernel: ReadyKernel,
    private readonly stopsWithoutFuel = false,
  ) {
    this.barriers = new BlockBarriers(area, launch, kernel);
    this.takesTurns = kernel.compiled.takesTurns;
    if (kernel.compiled.isInStep) this.order = new StepOrder(area, launch, kernel);
  }

  /** Runs the block that is in the area until it has to give way. @param isDriven whether to leave it to the block driver */
  turn(block: BlockState, isDriven = false): TurnEnd {
    for (let moved = false; ;) {
      let ran = false;
      let spun = false;
      for (let warp = 0; warp < block.warps; warp++) {
        if (((block.alive[warp] ?? 0) & ~(block.waiting[warp] ?? 0)) === 0) continue;
        const end = this.run(block, warp);
        if (end === 'fault') return this.ended();
        if (end === 'fuel') return { kind: 'fuel' };
        if (end === 'waits') ran = true;
        else if (end === 'spins') spun = true;
      }
      let alive = 0;
      let runnable = 0;
      for (let warp = 0; warp < block.warps; warp++) {
        const lanes = block.alive[warp] ?? 0;
        alive |= lanes;
        runnable |= lanes & ~(block.waiting[warp] ?? 0);
      }
      if (alive === 0) return DONE;
      if (ran) moved = true;
      if (ran && (spun || runnable !== 0)) continue;
      if (block.cluster !== undefined && this.settlesInCluster(block)) continue;
      if (spun) {
        if (this.barriers.openComplete(block)) continue;
        return { kind: 'spin', moved };
      }
      if (block.atCluster.some((lanes) => lanes !== 0)) {
        if (this.barriers.openComplete(block)) continue;
        this.fault = this.barriers.apartInCluster(block);
        return this.fault === undefined ? { kind: 'cluster', moved } : this.ended();
      }
      this.fault = this.barriers.open(block);
      if (this.fault !== undefined) return this.ended();
      if (isDriven && this.gather(block)) return { kind: 'together' };
    }
  }

  /** Threads that have ended count as arrived. @returns whether the cluster's barrier lets any of the block go on for that */
  private settlesInCluster(block: BlockState): boolean {
    const before = block.atCluster.reduce((count, lanes) => count + (lanes === 0 ? 0 : 1), 0);
    if (before === 0) return false;
    block.cluster?.settle();
    return block.atCluster.reduce((count, lanes) => count + (lanes === 0 ? 0 : 1), 0) < before;
  }

  /** After a barrier has opened: brings parted lanes together where they all go on from it. @returns whether all warps are. */
  private gather(block: BlockState): boolean {
    let isWhole = true;
    for (let warp = 0; warp < block.warps; warp++) {
      if (block.waiting[warp] !== 0) isWhole = false;
      if (block.parted[warp] !== 1) continue;
      const state = this.together(block, warp, this.runnableGroups(block, warp));
      if (state === undefined || block.released[warp] !== block.alive[warp]) isWhole = false;
      else if (!this.mayUnite(block, warp)) isWhole = false;
      else this.unite(block, warp, state);
    }
    return isWhole;
  }

  private unite(block: BlockState, warp: number, state: number): void {
    block.parted[warp] = 0;
    block.released[warp] = 0;
    block.state[warp] = state;
    block.paths[warp] = undefined;
  }

  private ended(): TurnEnd {
    const fault = this.fault ?? readFault(this.area, this.launch);
    return { kind: 'fault', fault };
  }

  private run(block: BlockState, warp: number): WarpEnd {
    for (let changed = false; ; changed = true) {
      const end = block.parted[warp] === 1 ? this.advanceParted(block, warp) : this.advance(block, warp);
      if (end === 'stuck') return changed ? 'waits' : end;
      if (end !== 'changed') return end;
    }
  }

  /** Runs a warp whose lanes are together. */
  private advance(block: BlockState, warp: number): WarpStep {
    const alive = block.alive[warp] ?? 0;
    for (;;) {
      const next = this.kernel.regions[block.state[warp] ?? 0]?.(warp, alive) ?? REGION_RESULT.fault;
      if (next === REGION_RESULT.fault) return this.failed();
      if (next === REGION_RESULT.mixed) {
        block.parted[warp] = 1;
        block.released[warp] = 0;
        return this.isOutOfFuel() ? this.outOfFuel(block, warp) : 'changed';
      }
      if (next < 0) {
        block.alive[warp] = 0;
        return 'waits';
      }
      block.state[warp] = next;
      const end = this.reach(block, warp, alive, next);
      if (end !== 'fault' && this.isOutOfFuel()) return this.outOfFuel(block, warp);
      if (end !== undefined) return end;
    }
  }

  /** All living lanes of a warp have come to one point. @returns undefined when they go on. */
  private reach(block: BlockState, warp: number, alive: number, state: number): WarpEnd | undefined {
    const point = this.point(state);
    if (point?.scope === 'spin') return 'spins';
    if (point?.scope !== 'block') return undefined;
    this.fault = this.barriers.arrive(block, warp, alive, point);
    if (this.fault !== undefined) return 'fault';
    return block.waiting[warp] === 0 ? undefined : 'waits';
  }

  /** Lanes have parted: runs whichever group can go on, until none can. */
  private advanceParted(block: BlockState, warp: number): WarpStep {
    const { order } = this;
    order?.begin();
    const end = this.advanceGroups(block, warp);
    order?.end();
    return end;
  }

  private advanceGroups(block: BlockState, warp: number): WarpStep {
    const { order } = this;
    let ran = false;
    let spun = 0;
    for (;;) {
      const groups = this.runnableGroups(block, warp);
      if (block.alive[warp] === 0) {
        block.parted[warp] = 0;
        return 'waits';
      }
      const together = this.together(block, warp, groups);
      if (together !== undefined && this.mayUnite(block, warp)) {
        const goesOn = block.released[warp] === block.alive[warp];
        this.unite(block, warp, together);
        // Having spun once in this turn is enough.
        const isSpin = this.point(together)?.scope === 'spin';
        if (isSpin && spun !== 0) return 'spins';
        const end = goesOn || isSpin ? undefined : this.reach(block, warp, block.alive[warp] ?? 0, together);
        return end ?? 'changed';
      }
      if (together !== undefined && this.arriveApart(block, warp, together)) {
        if (this.fault !== undefined) return 'fault';
        ran = true;
        continue;
      }
      const arriving = this.arrivingGroup(block, warp, groups);
      if (arriving !== undefined) {
        const point = this.point(arriving.state);
        if (point !== undefined) this.fault = this.barriers.arrive(block, warp, arriving.mask, point);
        if (this.fault !== undefined) return 'fault';
        ran = true;
        continue;
      }
      const group =
        order === undefined
          ? this.readyGroup(block, warp, groups, spun)
          : order.next(block, warp, groups, (each) => this.canRun(block, warp, each));
      if (group === undefined) return spun !== 0 ? 'spins' : ran ? 'waits' : 'stuck';
      if (this.point(group.state)?.scope === 'spin') spun |= group.mask;
      else ran = true;
      block.released[warp] = (block.released[warp] ?? 0) & ~group.mask;
      const next = this.kernel.regions[group.state]?.(warp, group.mask) ?? REGION_RESULT.fault;
      if (next === REGION_RESULT.fault) return this.failed();
      if (this.isOutOfFuel()) return this.outOfFuel(block, warp);
    }
  }

  /** Whether lanes that stand at one place have come to it by one way, so that they go on by one. */
  private mayUnite(block: BlockState, warp: number): boolean {
    return this.order === undefined || this.order.isOnePath(block, warp);
  }

  /** Lanes that have come to a barrier by different ways arrive as one warp, and go on by their ways. */
  private arriveApart(block: BlockState, warp: number, state: number): boolean {
    const point = this.point(state);
    if (point?.scope !== 'block' || block.released[warp] !== 0) return false;
    this.fault = this.barriers.arrive(block, warp, block.alive[warp] ?? 0, point);
    return true;
  }

  /** Of lanes at one state, those that can go on; undefined when they go with whoever is there. */
  private canRun(block: BlockState, warp: number, { state, mask }: LaneGroup): number | undefined {
    const point = this.point(state);
    const released = mask & (block.released[warp] ?? 0);
    if (released !== 0) return released;
    if (point?.scope === 'block') return 0;
    if (point?.scope !== 'warp') return mask;
    if (!this.hasMembers(point)) return undefined;
    return this.completeMembers(point, warp, mask, block.alive[warp] ?? 0) ?? 0;
  }

  /** Living lanes that do not wait at a barrier, by state, and forgets those that have ended. */
  private runnableGroups(block: BlockState, warp: number): LaneGroup[] {
    const groups = new Map<number, number>();
    let alive = block.alive[warp] ?? 0;
    forEachLane(alive, (lane) => {
      const state = this.area.state(warp * WARP_SIZE + lane);
      if (state < 0) alive &= ~(1 << lane);
      else if ((((block.waiting[warp] ?? 0) >>> lane) & 1) === 0)
        groups.set(state, (groups.get(state) ?? 0) | (1 << lane));
    });
    block.alive[warp] = alive;
    return [...groups].map(([state, mask]) => ({ state, mask }));
  }

  /** The state that all living lanes share, when none of them waits and all have passed their barrier or none has. */
  private together(block: BlockState, warp: number, groups: readonly LaneGroup[]): number | undefined {
    const [only] = groups;
    if (only === undefined || groups.length > 1 || only.mask !== block.alive[warp]) return undefined;
    const released = (block.released[warp] ?? 0) & only.mask;
    return released === 0 || released === only.mask ? only.state : undefined;
  }

  /** Lanes that come to a barrier which does not ask for the whole warp. */
  private arrivingGroup(
    block: BlockState,
    warp: number,
    groups: readonly LaneGroup[],
  ): LaneGroup | undefined {
    for (const { state, mask } of groups) {
      const point = this.point(state);
      if (point?.scope !== 'block' || this.barriers.isAligned(point)) continue;
      const fresh = mask & ~(block.released[warp] ?? 0);
      if (fresh !== 0) return { state, mask: fresh };
    }
    return undefined;
  }

  /**
   * A group that can run: lanes whose barrier has opened or that wait for nobody, or one warp operation's lanes that lack
   * no living member; then spinning lanes, once a turn; then those that go with whoever is there.
   */
  private readyGroup(
    block: BlockState,
    warp: number,
    groups: readonly LaneGroup[],
    spun: number,
  ): LaneGroup | undefined {
    const alive = block.alive[warp] ?? 0;
    let spinning: LaneGroup | undefined;
    let opportunistic: LaneGroup | undefined;
    for (const { state, mask } of groups) {
      const point = this.point(state);
      const released = mask & (block.released[warp] ?? 0);
      if (released !== 0) return { state, mask: released };
      if (point === undefined || point.scope === 'quantum') return { state, mask };
      if (point.scope === 'spin') {
        const fresh = mask & ~spun;
        if (fresh !== 0) spinning ??= { state, mask: fresh };
        continue;
      }
      if (point.scope !== 'warp') continue;
      if (!this.hasMembers(point)) {
        const before = this.point(opportunistic?.state ?? 0)?.instruction ?? Infinity;
        if (point.instruction < before) opportunistic = { state, mask };
        continue;
      }
      const complete = this.completeMembers(point, warp, mask, alive);
      if (complete !== undefined) return { state, mask: complete };
    }
    return spinning ?? opportunistic;
  }

  private completeMembers(point: SyncPoint, warp: number, here: number, alive: number): number | undefined {
    for (let rest = here; rest !== 0; rest &= rest - 1) {
      const lane = lowestLane(rest);
      const operand = this.launch.kernel.instructions[point.instruction]?.sources.at(-1);
      const members = this.area.operandValue(this.kernel.compiled, operand, warp * WARP_SIZE + lane);
      const needed = (members | (1 << lane)) & alive;
      if ((needed & ~here) === 0) return needed;
    }
    return undefined;
  }

  /** Whether an operation names the lanes that must meet; others take whoever is there. */
  private hasMembers(point: SyncPoint): boolean {
    return this.launch.kernel.instructions[point.instruction]?.modifiers.includes('sync') === true;
  }

  private isOutOfFuel(): boolean {
    return this.takesTurns && this.area.get(RECORD.fuel + 4) < 0;
  }

  private outOfFuel(block: BlockState, warp: number): WarpEnd {
    if (this.stopsWithoutFuel) return 'fuel';
    const lane = lowestLane(block.alive[warp] ?? 1);
    const thread = warp * WARP_SIZE + lane;
    const point = this.point(this.area.state(thread));
    const at = point?.instruction ?? 0;
    this.fault = makeFault(this.area, this.launch, 'fuelExhausted', at, thread);
    return 'fault';
  }

  private failed(): WarpEnd {
    this.fault = undefined;
    return 'fault';
  }

  private point(state: number): SyncPoint | undefined {
    return this.kernel.compiled.syncPoints[state - 1];
  }
}
