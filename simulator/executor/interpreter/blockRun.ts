import type { ExecutorLaunch } from '../types.js';
import type { BlockCluster } from './blockCluster.js';
import type { BlockResources, FaultPlace } from './blockExecution.js';
import { blockIndexOf, clusterDim, clusterRank } from '../clusters.js';
import { BlockExecution } from './blockExecution.js';
import type { Warp } from './warp.js';
import { firstLanes } from './warp.js';
import type { WarpPolicy } from './warpPolicy.js';
import { laneCount } from './warpOperations.js';

/** The run has executed as many thread-instructions as it was to. */
export class StopRun extends Error {
  override readonly name = 'StopRun';
}

/** What stands for a launch that is nowhere in particular. */
const NOWHERE = { startNs: 0, cyclesPerNs: 1, sm: 0, smCount: 1 } as const;

/** A block with the policy that drives its warps. */
export class BlockRun {
  private readonly execution: BlockExecution;
  private readonly warps: readonly Warp[];
  private readonly turn: number;
  private readonly cluster: BlockCluster | undefined;
  private readonly draw: ((choices: number) => number) | undefined;

  /**
   * @param resources `stopAt`: thread-instructions after which the run ends, by StopRun
   * @param how steps that a warp takes in a round, which warp is first, and the block's SM unless it is the launch's;
   * `draw`: see InterpreterOptions
   */
  constructor(
    launch: ExecutorLaunch,
    private readonly resources: BlockResources & { readonly stopAt?: number },
    readonly block: number,
    private readonly policy: WarpPolicy,
    how: {
      readonly turn: number;
      readonly order: 'forward' | 'reversed';
      readonly sm: number | undefined;
      readonly draw?: ((choices: number) => number) | undefined;
      /** Where blocks meet in clusters: its own. */
      readonly cluster: BlockCluster | undefined;
    },
  ) {
    const { shape } = launch;
    const place = launch.place ?? NOWHERE;
    const blockIndex = blockIndexOf(launch, block);
    this.execution = new BlockExecution(
      resources,
      {
        grid: shape.grid,
        block: shape.block,
        blockIndex,
        cluster: clusterDim(shape),
        clusterRank: clusterRank(shape, blockIndex),
        isExplicitCluster: shape.cluster !== undefined,
        warps: Math.ceil((shape.block[0] * shape.block[1] * shape.block[2]) / 32),
        dynamicSharedBytes: shape.dynamicSharedBytes,
        totalSharedBytes: resources.program.sharedBytes,
        place,
        sm: how.sm ?? place.sm,
        gridWorkspace: launch.gridWorkspace ?? 0,
      },
      block,
      how.cluster,
    );
    this.cluster = how.cluster;
    this.turn = how.turn;
    this.draw = how.draw;
    this.warps = how.order === 'reversed' ? [...this.execution.warps].reverse() : this.execution.warps;
  }

  get isDone(): boolean {
    return this.execution.isDone;
  }

  /** Where the last step was, for the report of a fault. */
  get lastPlace(): FaultPlace {
    return this.execution.lastPlace;
  }

  /** Gives each warp its turn. @throws LaneFault, also when no warp can go on; StopRun */
  round(): void {
    let steps = 0;
    const { draw } = this;
    const { observer } = this.resources;
    for (const warp of draw === undefined ? this.warps : shuffled(this.warps, draw)) {
      const turn = draw === undefined ? this.turn : 1 + draw(this.turn);
      for (let taken = 0; taken < turn;) {
        const set = this.policy.next(warp);
        if (set === undefined) {
          if (!this.execution.gather(warp)) break;
          taken++;
          steps++;
          continue;
        }
        // Nobody looks for a copy again and again while the copy engine makes it.
        if (this.resources.program.steps[set.pc]?.instruction.isEngine !== true) taken++;
        this.step(set.warp, set.lanes, set.pc);
        this.policy.stepped(set);
        steps++;
        if (observer.full === true || observer.hasBlock === true) return;
      }
    }
    if (steps > 0) this.cluster?.moved();
    else if (!this.isDone && this.cluster?.mayGoOn(this.execution.identity.clusterRank) !== true)
      throw this.execution.stuck();
  }

  /** A step that the run's end cuts short is taken by the lanes before it. */
  private step(warp: Warp, lanes: number, pc: number): void {
    const left = (this.resources.stopAt ?? Infinity) - this.resources.counters.threadInstructions;
    if (laneCount(lanes) <= left) {
      this.execution.step(warp, lanes, pc);
      return;
    }
    if (left > 0) this.execution.step(warp, firstLanes(lanes, left), pc);
    throw new StopRun();
  }
}

function shuffled(warps: readonly Warp[], draw: (choices: number) => number): Warp[] {
  const left = [...warps];
  return warps.flatMap(() => left.splice(draw(left.length), 1));
}
