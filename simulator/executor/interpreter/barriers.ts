import { populationCount } from '../arithmetic/index.js';
import { LaneFault } from './faults.js';
import { lanesPerWarp } from './registerFile.js';
import type { Warp } from './warp.js';

/** A block has the barriers 0 to 15. */
const BARRIERS = 16;

/** What one instruction says of the barrier at which its lanes arrive. */
export interface BarrierForm {
  /** All lanes of a warp are to execute it together. */
  readonly isAligned: boolean;
  /** False of `arrive`, which goes on at once. */
  readonly waits: boolean;
  readonly reduction: 'popc' | 'and' | 'or' | undefined;
}

/** One barrier from its last opening to its next. */
interface Phase {
  /** Lanes of each warp that wait for it to open. */
  readonly waiting: Int32Array;
  /** Lanes of each warp that arrived and went on. */
  readonly arrived: Int32Array;
  /** Threads that arrived again before it opened. */
  again: number;
  /** Threads that open it; undefined: all of the block that have not exited. */
  count: number | undefined;
  isWhole: boolean;
  isAligned: boolean;
  voters: number;
  votes: number;
}

/**
 * The barriers of one block. Without a count a barrier opens once every thread that has not exited has arrived. With one it
 * opens once as many have: a warp all of whose live lanes have arrived counts as 32 threads, as hardware counts them, one
 * of which some have arrived as those lanes, or not at all where the barrier is aligned.
 */
export class BlockBarriers {
  private readonly phases: (Phase | undefined)[] = new Array<Phase | undefined>(BARRIERS).fill(undefined);

  constructor(private readonly warps: readonly Warp[]) {}

  /** @throws LaneFault for a number or count that no barrier has, or one unlike what others gave. */
  arrive(warp: Warp, lane: number, id: number, count: number | undefined, form: BarrierForm): void {
    if (id < 0 || id >= BARRIERS) {
      throw new LaneFault(
        'illegalInstruction',
        `barrier ${id}: a block has the barriers 0 to ${BARRIERS - 1}`,
      );
    }
    if (count !== undefined && (count <= 0 || count % lanesPerWarp !== 0)) {
      throw new LaneFault(
        'illegalInstruction',
        `barrier ${id} for ${count} threads: the count must be a positive multiple of ${lanesPerWarp}`,
      );
    }
    const phase = this.phases[id] ?? (this.phases[id] = this.newPhase());
    if (count === undefined) phase.isWhole = true;
    else if (phase.count !== undefined && phase.count !== count) {
      throw new LaneFault(
        'divergentBarrier',
        `barrier ${id} is for ${count} threads here, for ${phase.count} elsewhere`,
      );
    } else phase.count = count;
    phase.isAligned ||= form.isAligned;
    const bit = 1 << lane;
    if (form.waits) phase.waiting[warp.index] = (phase.waiting[warp.index] ?? 0) | bit;
    else if (((phase.arrived[warp.index] ?? 0) & bit) !== 0) phase.again++;
    else phase.arrived[warp.index] = (phase.arrived[warp.index] ?? 0) | bit;
  }

  /** The predicate that a thread brings to a reduction. */
  vote(id: number, predicate: boolean): void {
    const phase = this.phases[id];
    if (phase === undefined) return;
    phase.voters++;
    if (predicate) phase.votes++;
  }

  /** A barrier that can open, or undefined. */
  complete(): number | undefined {
    for (const [id, phase] of this.phases.entries()) {
      if (phase !== undefined && this.isComplete(phase)) return id;
    }
    return undefined;
  }

  /** Opens a barrier: what waited there, and how the votes came out. */
  open(id: number): {
    readonly waiting: Int32Array;
    readonly result: (reduction: BarrierForm['reduction']) => number;
  } {
    const phase = this.phases[id] ?? this.newPhase();
    this.phases[id] = undefined;
    const { votes, voters, waiting } = phase;
    return {
      waiting,
      result: (reduction) =>
        reduction === 'popc' ? votes : (reduction === 'and' ? votes === voters : votes > 0) ? 1 : 0,
    };
  }

  /** Count of a barrier that has one and at which threads wait. */
  countOf(id: number): number | undefined {
    const phase = this.phases[id];
    return phase === undefined || phase.isWhole ? undefined : phase.count;
  }

  private isComplete(phase: Phase): boolean {
    if (phase.isWhole || phase.count === undefined)
      return this.warps.every((warp) => this.hasCome(phase, warp));
    let threads = phase.again;
    for (const warp of this.warps) {
      const here = this.here(phase, warp);
      if (here === 0) continue;
      if (this.hasCome(phase, warp)) threads += lanesPerWarp;
      else if (!phase.isAligned) threads += populationCount(here);
    }
    return threads >= phase.count;
  }

  private here(phase: Phase, warp: Warp): number {
    return (phase.waiting[warp.index] ?? 0) | (phase.arrived[warp.index] ?? 0);
  }

  private hasCome(phase: Phase, warp: Warp): boolean {
    return (warp.live & ~this.here(phase, warp)) === 0;
  }

  private newPhase(): Phase {
    return {
      waiting: new Int32Array(this.warps.length),
      arrived: new Int32Array(this.warps.length),
      again: 0,
      count: undefined,
      isWhole: false,
      isAligned: false,
      voters: 0,
      votes: 0,
    };
  }
}
