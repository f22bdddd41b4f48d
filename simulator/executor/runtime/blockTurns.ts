import { blocksTogether } from '../clusters.js';
import { RECORD, WARP_SIZE } from '../compiler/index.js';
import { lowestLane } from '../lanePaths/index.js';
import type { BlockRange, ExecutorLaunch, KernelFault } from '../types.js';
import { BlockScheduler, type TurnEnd } from './blockScheduler.js';
import { BlockState } from './blockState.js';
import { ClusterBlocks } from './clusterBlocks.js';
import { ExecutorError } from './executorError.js';
import { makeFault } from './faults.js';
import type { ReadyKernel } from './kernelCache.js';
import type { LaunchArea } from './launchArea.js';

/** Threads and blocks that may be in flight together when a launch is not cooperative: what a large card holds. */
const MOST_THREADS = 132 * 2048;
const MOST_BLOCKS = 132 * 32;

/** Blocks of a launch of which some are in flight. */
export interface BlocksInFlight {
  /** In order of their indices. */
  readonly active: BlockState[];
  /** The first block that has not begun. */
  next: number;
}

export type TurnsEnd =
  | { readonly kind: 'done' | 'yield'; readonly blocks: number }
  | { readonly kind: 'fault'; readonly blocks: number; readonly fault: KernelFault };

/**
 * Runs blocks whose threads give way to one another: each in turn until it has ended, waits for what others write or has
 * used up its fuel. Blocks begin as late as they can, so that those that wait for nobody hold nothing.
 */
export class BlockTurns {
  private readonly scheduler: BlockScheduler;
  private readonly mostActive: number;
  /** Blocks of a cluster, which are in flight together. */
  private readonly together: number;
  private inArea: BlockState | undefined;
  private finished = 0;
  private lastPicture: string | undefined;

  /** @param yields whether to stop when a block gives way, instead of going on until all have ended. */
  constructor(
    private readonly area: LaunchArea,
    private readonly launch: ExecutorLaunch,
    private readonly kernel: ReadyKernel,
    private readonly range: BlockRange,
    private readonly blocks: BlocksInFlight,
    private readonly fuel: number,
    private readonly yields: boolean,
  ) {
    this.scheduler = new BlockScheduler(area, launch, kernel, yields);
    this.together = blocksTogether(launch);
    for (const block of blocks.active) block.fuel = fuel;
    const threads = area.get(RECORD.threads);
    this.mostActive =
      launch.cooperative === true
        ? Infinity
        : Math.min(MOST_BLOCKS, Math.max(1, Math.floor(MOST_THREADS / threads)));
  }

  /** @throws ExecutorError for a part of a cluster */
  run(): TurnsEnd {
    const { lo, hi } = this.range;
    if (lo % this.together !== 0 || hi % this.together !== 0) {
      throw new ExecutorError(
        'invalidLaunch',
        `${this.launch.kernel.name}: block range [${lo}, ${hi}) cuts a cluster of ${this.together} blocks`,
      );
    }
    try {
      return this.runTurns();
    } finally {
      // Of a run that has yielded nothing is left there.
      for (const { cluster } of this.blocks.active) cluster?.release();
    }
  }

  private runTurns(): TurnsEnd {
    for (;;) {
      this.area.set(RECORD.wrote, 0);
      const end = this.round();
      if (end.fault !== undefined) return { kind: 'fault', blocks: this.finished, fault: end.fault };
      if (this.blocks.active.length === 0 && this.blocks.next >= this.range.hi)
        return { kind: 'done', blocks: this.finished };
      if (end.isStuck) return { kind: 'fault', blocks: this.finished, fault: this.stuckInClusters() };
      if (this.yields) {
        this.putAway();
        return { kind: 'yield', blocks: this.finished };
      }
      if (!end.moved && this.isStanding())
        return { kind: 'fault', blocks: this.finished, fault: this.deadlock() };
      if (end.moved) this.lastPicture = undefined;
    }
  }

  /** One turn of every block in flight, and the beginnings of others while there is room. */
  private round(): { readonly moved: boolean; readonly isStuck: boolean; readonly fault?: KernelFault } {
    const { active } = this.blocks;
    let moved = false;
    /** Whether blocks give way to others than those of their clusters. */
    let givesWay = false;
    const end = (): { readonly moved: boolean; readonly isStuck: boolean } => ({
      moved,
      isStuck: !moved && !givesWay && active.length > 0,
    });
    for (let at = 0; ;) {
      let block = active[at];
      if (block === undefined) {
        if (!this.mayBegin(givesWay)) return end();
        block = this.begin();
        moved = true;
      }
      this.enter(block);
      const turn: TurnEnd = this.scheduler.turn(block);
      if (turn.kind === 'fault') return { ...end(), fault: turn.fault };
      if (turn.kind === 'done') {
        moved = true;
        block.cluster?.ended(block);
        this.finished += 1;
        this.inArea = undefined;
        active.splice(at, 1);
        continue;
      }
      const waits = turn.kind === 'spin' || turn.kind === 'cluster';
      if (!waits || turn.moved) moved = true;
      if (turn.kind !== 'cluster') {
        givesWay = true;
        // A block that waits for nobody goes on alone: the next begins when it has ended.
        if (this.yields && !this.kernel.compiled.spins) return end();
      }
      at += 1;
    }
  }

  /** Blocks of a cluster begin together, and others when those that are there wait for more than one another. */
  private mayBegin(givesWay: boolean): boolean {
    const { active, next } = this.blocks;
    if (next >= this.range.hi) return false;
    if (this.together > 1 && active.length > 0 && !givesWay) return false;
    return active.length === 0 || active.length + this.together <= this.mostActive;
  }

  /** @returns the first of the blocks that have begun */
  private begin(): BlockState {
    if (!this.kernel.compiled.meetsInCluster) return this.beginOne();
    const bytes = this.area.get(RECORD.sharedBytes);
    const cluster = new ClusterBlocks(this.area, bytes, this.together);
    const first = this.beginOne(cluster);
    for (let rank = 1; rank < this.together; rank++) this.beginOne(cluster);
    return first;
  }

  private beginOne(cluster?: ClusterBlocks): BlockState {
    this.leave();
    const block = new BlockState(this.area.get(RECORD.threads));
    block.start(this.blocks.next, this.fuel);
    this.blocks.next += 1;
    this.blocks.active.push(block);
    this.area.beginBlock(this.launch, block.index);
    this.area.clearBlock(this.kernel.compiled);
    cluster?.join(block);
    cluster?.enter(block);
    this.inArea = block;
    return block;
  }

  private enter(block: BlockState): void {
    if (this.inArea === block) return;
    this.leave();
    this.area.enterBlock(this.launch, block.index, block.fuel, block.spentBefore);
    if (block.memory !== undefined) this.area.restoreBlock(block.memory);
    block.cluster?.enter(block);
    this.inArea = block;
  }

  private leave(): void {
    const block = this.inArea;
    if (block === undefined) return;
    block.fuel = this.area.signed(RECORD.fuel);
    block.memory = this.area.saveBlock(this.kernel.compiled, block.memory);
    this.inArea = undefined;
  }

  /** Everything out of the area: other launches may run there. */
  private putAway(): void {
    this.leave();
    for (const block of this.blocks.active) {
      block.spentBefore += this.fuel - block.fuel;
      block.cluster?.release(true);
    }
  }

  /** Whether a round in which every block only looked again has changed nothing: then no later one will. */
  private isStanding(): boolean {
    if (this.area.get(RECORD.wrote) !== 0) {
      this.lastPicture = undefined;
      return false;
    }
    this.leave();
    const picture = `${this.area.wide(RECORD.clockReads)} ${pictureOf(this.blocks.active)}`;
    const same = picture === this.lastPicture;
    this.lastPicture = picture;
    return same;
  }

  /** No block can go on, and some wait for others of their cluster. */
  private stuckInClusters(): KernelFault {
    const block = this.blocks.active.find(({ atCluster }) => atCluster.some((lanes) => lanes !== 0));
    if (block === undefined) return this.deadlock();
    this.enter(block);
    const warp = block.atCluster.findIndex((lanes) => lanes !== 0);
    const thread = warp * WARP_SIZE + lowestLane(block.atCluster[warp] ?? 1);
    const instruction = this.instructionOf(block, thread);
    const missing = block.cluster?.missing();
    let whom = 'others';
    if (missing !== undefined) {
      this.enter(missing.block);
      const other = missing.warp * WARP_SIZE + lowestLane(missing.lanes);
      const { line = 0 } = this.launch.kernel.instructions[this.instructionOf(missing.block, other)] ?? {};
      whom = `thread ${other} of block ${missing.block.index}, which waits at line ${line} and has not arrived`;
    }
    this.enter(block);
    const detail = `threads wait at the barrier of their cluster for ${whom}`;
    return makeFault(this.area, this.launch, 'deadlock', instruction, thread, undefined, detail);
  }

  /** Where a thread of the block that is in the area waits. */
  private instructionOf(block: BlockState, thread: number): number {
    const warp = Math.floor(thread / WARP_SIZE);
    const state = block.parted[warp] === 1 ? this.area.state(thread) : (block.state[warp] ?? 0);
    return this.kernel.compiled.syncPoints[state - 1]?.instruction ?? 0;
  }

  private deadlock(): KernelFault {
    const [block] = this.blocks.active;
    if (block !== undefined) this.enter(block);
    const { syncPoints } = this.kernel.compiled;
    let [thread, instruction] = [0, 0];
    for (let each = block?.threads ?? 0; each-- > 0;) {
      const point = syncPoints[this.area.state(each) - 1];
      if (point?.scope === 'spin') [thread, instruction] = [each, point.instruction];
    }
    const detail = 'it looks again and again, and nothing changes any more';
    return makeFault(this.area, this.launch, 'deadlock', instruction, thread, undefined, detail);
  }
}

/** Two sums over what the blocks' threads hold; equal pictures are taken for equal states. */
function pictureOf(blocks: readonly BlockState[]): string {
  let [first, second] = [0x811c9dc5, 0x1b873593];
  const mix = (bytes: Uint8Array): void => {
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
    for (const word of words) {
      first = Math.imul(first ^ word, 0x01000193);
      second = Math.imul(second + word, 0x85ebca6b) ^ (second >>> 15);
    }
  };
  for (const { memory } of blocks) {
    if (memory === undefined) continue;
    for (const part of [memory.contexts, memory.locals, memory.states]) mix(part);
  }
  return `${first} ${second}`;
}
