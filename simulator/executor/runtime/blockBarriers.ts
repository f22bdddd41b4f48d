import { isa } from '../../ptx/index.js';
import { WARP_SIZE, type SyncPoint } from '../compiler/index.js';
import type { IrInstruction, IrOperand } from '../../ptx/index.js';
import type { KernelFault } from '../types.js';
import type { BlockLaunch } from './blockLaunch.js';
import type { BlockState } from './blockState.js';
import { makeFault } from './faults.js';
import type { ReadyKernel } from './kernelCache.js';
import { forEachLane, lowestLane, populationCount } from '../lanePaths/index.js';
import type { LaunchArea } from './launchArea.js';
import {
  barrierOf,
  BARRIERS,
  contribution,
  isComplete,
  type BarrierVotes,
  type NamedBarrier,
} from './namedBarriers.js';

/** What an instruction does at a barrier. */
interface BarrierUse {
  readonly number: IrOperand | undefined;
  /** Threads that the barrier counts; without it all living threads of the block. */
  readonly count: IrOperand | undefined;
  /** Goes on at once. */
  readonly isArrival: boolean;
  /** All living lanes of a warp come together. */
  readonly isAligned: boolean;
  readonly predicate: IrOperand | undefined;
  readonly reduction: 'popc' | 'and' | 'or' | undefined;
  /** All threads of the block wait at one barrier, and that is all. */
  readonly isPlain: boolean;
  /** Of the barrier of the cluster. */
  readonly isOfCluster: boolean;
}

/** The barriers of a block: who waits, and when they open. */
export class BlockBarriers {
  /** By sync point; made when first asked for. */
  private readonly uses: (BarrierUse | undefined)[] = [];

  constructor(
    private readonly area: LaunchArea,
    private readonly launch: BlockLaunch,
    private readonly kernel: ReadyKernel,
  ) {}

  /** Whether lanes of a warp that have parted must come together before they arrive. */
  isAligned(point: SyncPoint): boolean {
    const { isAligned, isOfCluster } = this.useAt(point);
    return isAligned && !isOfCluster;
  }

  /** Lanes of a warp come to a barrier. They wait in `block.waiting` unless it lets them go on at once. */
  arrive(block: BlockState, warp: number, lanes: number, point: SyncPoint): KernelFault | undefined {
    const use = this.useAt(point);
    if (use.isOfCluster) return this.arriveInCluster(block, warp, lanes, point, use);
    block.waiting[warp] = (block.waiting[warp] ?? 0) | lanes;
    if (use.count === undefined) return undefined;
    for (const group of this.groups(use, warp, lanes)) {
      const { number, count } = group;
      if (number >= BARRIERS || count === 0 || count % WARP_SIZE !== 0) {
        const what =
          number >= BARRIERS
            ? `barrier ${number}: a block has the barriers 0 to ${BARRIERS - 1}`
            : `a barrier of ${count} threads: the count must be a multiple of ${WARP_SIZE} above 0`;
        const thread = warp * WARP_SIZE + lowestLane(group.lanes);
        return this.fault('illegalInstruction', point, thread, what);
      }
      const barrier = barrierOf(block, number, count);
      this.vote(use, warp, group.lanes, barrier.votes);
      if (use.isArrival) {
        barrier.arrived += contribution(block, warp, group.lanes);
        release(block, warp, group.lanes);
      } else barrier.lanes.set(warp, (barrier.lanes.get(warp) ?? 0) | group.lanes);
      if (isComplete(block, barrier)) this.openCounted(block, barrier);
    }
    return undefined;
  }

  private arriveInCluster(
    block: BlockState,
    warp: number,
    lanes: number,
    point: SyncPoint,
    use: BarrierUse,
  ): KernelFault | undefined {
    const arrived = (block.clusterArrived[warp] ?? 0) | (block.clusterPassed[warp] ?? 0);
    const wrong = use.isArrival ? lanes & arrived : lanes & ~arrived;
    if (wrong !== 0) {
      const detail = use.isArrival
        ? 'a thread arrives at the barrier of its cluster again before it has waited there'
        : 'a thread waits at the barrier of its cluster, at which it has not arrived';
      const thread = warp * WARP_SIZE + lowestLane(wrong);
      return this.fault('illegalInstruction', point, thread, detail);
    }
    if (use.isArrival) {
      block.clusterArrived[warp] = (block.clusterArrived[warp] ?? 0) | lanes;
      release(block, warp, lanes);
    } else {
      block.atCluster[warp] = (block.atCluster[warp] ?? 0) | lanes;
      block.waiting[warp] = (block.waiting[warp] ?? 0) | lanes;
    }
    block.cluster?.settle();
    return undefined;
  }

  /** Lanes of a warp that wait for the cluster, where an aligned barrier asks that they do at one place. */
  apartInCluster(block: BlockState): KernelFault | undefined {
    for (let warp = 0; warp < block.warps; warp++) {
      const lanes = block.atCluster[warp] ?? 0;
      if (lanes === 0 || block.parted[warp] === 0) continue;
      const places = this.places(block, warp, lanes);
      const aligned = places.find(({ point }) => this.useAt(point).isAligned);
      if (places.length < 2 || aligned === undefined) continue;
      const detail =
        'lanes of one warp wait for the aligned barrier of the cluster at different instructions';
      const thread = warp * WARP_SIZE + lowestLane(aligned.lanes);
      return this.fault('divergentBarrier', aligned.point, thread, detail);
    }
    return undefined;
  }

  /**
   * No lane of the block can run: opens what may open. @returns the fault when nothing does.
   */
  open(block: BlockState): KernelFault | undefined {
    if (this.openPlainly(block) || this.openComplete(block)) return undefined;
    const apart = this.partedLanes(block);
    if (apart !== undefined) return apart;
    return this.openForAll(block);
  }

  /** Opens the barriers that have their count, since a thread that ended is no longer missing. @returns whether any did. */
  openComplete(block: BlockState): boolean {
    let opened = false;
    for (const barrier of block.barriers.values()) {
      if (barrier.lanes.size === 0 || !isComplete(block, barrier)) continue;
      this.openCounted(block, barrier);
      opened = true;
    }
    return opened;
  }

  /** What nearly always happens: every thread of the block waits at the same barrier. */
  private openPlainly(block: BlockState): boolean {
    const state = block.state[0] ?? 0;
    const last = block.warps - 1;
    for (let warp = 0; warp <= last; warp++) {
      const lanes = warp < last ? -1 : fullMask(block.threads - last * WARP_SIZE);
      if (block.waiting[warp] !== lanes || block.parted[warp] === 1 || block.state[warp] !== state)
        return false;
    }
    const point = this.kernel.compiled.syncPoints[state - 1];
    if (point === undefined) return false;
    if (!this.useAt(point).isPlain) return false;
    block.waiting.fill(0);
    return true;
  }

  /** The barrier without a count at which every living thread waits. */
  private openForAll(block: BlockState): KernelFault | undefined {
    const votes: BarrierVotes = { threads: 0, holds: 0 };
    let number: number | undefined;
    let reduces = false;
    for (let warp = 0; warp < block.warps; warp++) {
      const alive = block.alive[warp] ?? 0;
      if (alive === 0) continue;
      for (const { point, lanes } of this.places(block, warp, alive)) {
        const use = this.useAt(point);
        const thread = warp * WARP_SIZE + lowestLane(lanes);
        const skipped = this.skippedLane(block, warp, point);
        if (skipped !== undefined) {
          const detail = `lane ${lowestLane(lanes)} waits here, lane ${skipped} went on without it and ended`;
          return this.fault('divergentBarrier', point, thread, detail);
        }
        if (use.count !== undefined) return this.starved(block, warp, lanes, point);
        for (const group of this.groups(use, warp, lanes)) {
          number ??= group.number;
          if (group.number >= BARRIERS) {
            const what = `barrier ${group.number}: a block has the barriers 0 to ${BARRIERS - 1}`;
            return this.fault('illegalInstruction', point, thread, what);
          }
          if (group.number !== number)
            return this.numbersDiffer(block, warp, point, thread, group.number, number);
        }
        reduces ||= use.reduction !== undefined;
        this.vote(use, warp, lanes, votes);
      }
    }
    for (let warp = 0; warp < block.warps; warp++) {
      const alive = block.alive[warp] ?? 0;
      if (alive === 0) continue;
      if (reduces) this.giveVotes(block, warp, alive, votes);
      release(block, warp, alive);
    }
    return undefined;
  }

  private openCounted(block: BlockState, barrier: NamedBarrier): void {
    for (const [warp, lanes] of barrier.lanes) {
      this.giveVotes(block, warp, lanes, barrier.votes);
      release(block, warp, lanes);
    }
    barrier.lanes.clear();
    barrier.arrived = 0;
    barrier.votes.threads = 0;
    barrier.votes.holds = 0;
  }

  private vote(use: BarrierUse, warp: number, lanes: number, votes: BarrierVotes): void {
    if (use.predicate === undefined) return;
    const { predicate } = use;
    votes.threads += populationCount(lanes);
    forEachLane(lanes, (lane) => {
      const value = this.valueOf(predicate, warp * WARP_SIZE + lane) & 1;
      votes.holds += predicate.kind === 'negatedPredicate' ? 1 - value : value;
    });
  }

  private giveVotes(block: BlockState, warp: number, lanes: number, votes: BarrierVotes): void {
    for (const { point, lanes: here } of this.places(block, warp, lanes)) {
      const { reduction } = this.useAt(point);
      if (reduction === undefined) continue;
      const result =
        reduction === 'popc'
          ? votes.holds
          : Number(reduction === 'and' ? votes.holds === votes.threads : votes.holds > 0);
      forEachLane(here, (lane) => {
        this.area.giveResult(this.kernel.compiled, warp * WARP_SIZE + lane, result);
      });
    }
  }

  /** Lanes of a warp by the barrier instruction at which they stand. */
  private places(block: BlockState, warp: number, lanes: number): { point: SyncPoint; lanes: number }[] {
    const { syncPoints } = this.kernel.compiled;
    if (block.parted[warp] === 0) {
      const point = syncPoints[(block.state[warp] ?? 0) - 1];
      return point === undefined ? [] : [{ point, lanes }];
    }
    const found = new Map<SyncPoint, number>();
    forEachLane(lanes, (lane) => {
      const point = syncPoints[this.area.state(warp * WARP_SIZE + lane) - 1];
      if (point !== undefined) found.set(point, (found.get(point) ?? 0) | (1 << lane));
    });
    return [...found].map(([point, here]) => ({ point, lanes: here }));
  }

  /** Lanes by the barrier and the count that they name. */
  private groups(
    use: BarrierUse,
    warp: number,
    lanes: number,
  ): { number: number; count: number; lanes: number }[] {
    const of = (lane: number): { number: number; count: number } => ({
      number: this.valueOf(use.number, warp * WARP_SIZE + lane) >>> 0,
      count: use.count === undefined ? 0 : this.valueOf(use.count, warp * WARP_SIZE + lane) >>> 0,
    });
    const isFixed = use.number?.kind !== 'register' && use.count?.kind !== 'register';
    if (isFixed) return [{ ...of(lowestLane(lanes)), lanes }];
    const found = new Map<string, { number: number; count: number; lanes: number }>();
    forEachLane(lanes, (lane) => {
      const each = of(lane);
      const key = `${each.number} ${each.count}`;
      const known = found.get(key);
      if (known === undefined) found.set(key, { ...each, lanes: 1 << lane });
      else known.lanes |= 1 << lane;
    });
    return [...found.values()];
  }

  /** A warp whose lanes stand at different places of which none lets them go on. */
  private partedLanes(block: BlockState): KernelFault | undefined {
    const { syncPoints } = this.kernel.compiled;
    for (let warp = 0; warp < block.warps; warp++) {
      const alive = block.alive[warp] ?? 0;
      const stuck = alive & ~(block.waiting[warp] ?? 0);
      if (stuck === 0) continue;
      const lane = lowestLane(stuck);
      const state = this.area.state(warp * WARP_SIZE + lane);
      let stray = lane;
      forEachLane(alive, (other) => {
        if (stray === lane && this.area.state(warp * WARP_SIZE + other) !== state) stray = other;
      });
      const point = syncPoints[state - 1];
      if (point === undefined) continue;
      const otherAt = syncPoints[this.area.state(warp * WARP_SIZE + stray) - 1] ?? point;
      const line = this.launch.kernel.instructions[otherAt.instruction]?.line ?? 0;
      const detail = `lane ${lane} waits here, lane ${stray} at line ${line}`;
      return this.fault('divergentBarrier', point, warp * WARP_SIZE + lane, detail);
    }
    return undefined;
  }

  private numbersDiffer(
    block: BlockState,
    warp: number,
    point: SyncPoint,
    thread: number,
    mine: number,
    others: number,
  ): KernelFault {
    for (let each = 0; each < block.warps; each++) {
      const alive = block.alive[each] ?? 0;
      const counted = this.places(block, each, alive).find(
        ({ point: at }) => this.useAt(at).count !== undefined,
      );
      if (counted !== undefined) return this.starved(block, each, counted.lanes, counted.point);
    }
    const detail = `warp ${warp} waits at barrier ${mine}, others at barrier ${others}`;
    return this.fault('divergentBarrier', point, thread, detail);
  }

  /** A barrier whose count is never reached. */
  private starved(block: BlockState, warp: number, lanes: number, point: SyncPoint): KernelFault {
    const thread = warp * WARP_SIZE + lowestLane(lanes);
    const number = this.valueOf(this.useAt(point).number, thread);
    const barrier = block.barriers.get(number);
    let total = barrier?.arrived ?? 0;
    for (const [each, here] of barrier?.lanes ?? []) total += contribution(block, each, here);
    const detail = `barrier ${number} has ${total} of ${barrier?.count ?? 0} threads, and no other can come`;
    return this.fault('deadlock', point, thread, detail);
  }

  /**
   * A lane that ended in code behind the barrier which its warp waits at has skipped it. One that only returned (an early
   * exit) leaves the barrier to the others, as the hardware has it.
   */
  private skippedLane(block: BlockState, warp: number, point: SyncPoint): number | undefined {
    const alive = block.alive[warp] ?? 0;
    if (alive === -1 || !this.useAt(point).isAligned) return undefined;
    const lanes = Math.min(WARP_SIZE, block.threads - warp * WARP_SIZE);
    for (let lane = 0; lane < lanes; lane++) {
      if (((alive >>> lane) & 1) === 1) continue;
      const end = -1 - this.area.state(warp * WARP_SIZE + lane);
      if (this.kernel.compiled.skips(point.index, end)) return lane;
    }
    return undefined;
  }

  private useAt(point: SyncPoint): BarrierUse {
    return (this.uses[point.index] ??= barrierUse(this.launch.kernel.instructions[point.instruction]));
  }

  private valueOf(operand: IrOperand | undefined, thread: number): number {
    return this.area.operandValue(this.kernel.compiled, operand, thread);
  }

  private fault(
    code: 'divergentBarrier' | 'illegalInstruction' | 'deadlock',
    point: SyncPoint,
    thread: number,
    detail: string,
  ): KernelFault {
    return makeFault(this.area, this.launch, code, point.instruction, thread, undefined, detail);
  }
}

function fullMask(lanes: number): number {
  return lanes >= WARP_SIZE ? -1 : (1 << lanes) - 1;
}

function release(block: BlockState, warp: number, lanes: number): void {
  block.waiting[warp] = (block.waiting[warp] ?? 0) & ~lanes;
  if (block.parted[warp] === 1) block.released[warp] = (block.released[warp] ?? 0) | lanes;
}

function barrierUse(instruction: IrInstruction | undefined): BarrierUse {
  const { opcode = '', modifiers = [], sources = [] } = instruction ?? {};
  const isReduction = modifiers.includes('red');
  const [number, second, third] = sources;
  const reduction = (['popc', 'and', 'or'] as const).find((each) => isReduction && modifiers.includes(each));
  const count = isReduction ? (third === undefined ? undefined : second) : second;
  return {
    number,
    count,
    isPlain: count === undefined && !isReduction && number?.kind === 'integer',
    isArrival: modifiers.includes('arrive'),
    isOfCluster: modifiers.includes('cluster'),
    isAligned: isa(opcode).effects.isAligned || modifiers.includes('aligned'),
    predicate: isReduction ? (third ?? second) : undefined,
    reduction,
  };
}
