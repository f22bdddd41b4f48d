import { ENTRY_STATE, WARP_SIZE } from '../compiler/index.js';
import type { LanePaths } from '../lanePaths/index.js';
import type { ClusterBlocks } from './clusterBlocks.js';
import type { NamedBarrier } from './namedBarriers.js';

/** A block's bytes in the executor's area while another block runs there. */
export interface BlockMemory {
  readonly contexts: Uint8Array;
  readonly locals: Uint8Array;
  readonly shared: Uint8Array;
  readonly states: Uint8Array;
}

/** One block in flight: where each of its warps is. */
export class BlockState {
  readonly warps: number;
  /** Lanes of each warp that have not ended. */
  readonly alive: Int32Array;
  /** Lanes of each warp that wait at a barrier of the block. */
  readonly waiting: Int32Array;
  /** Lanes of a parted warp whose barrier has opened and that have not gone on yet. */
  readonly released: Int32Array;
  /** The state that all living lanes of a warp share, unless they have parted. */
  readonly state: Int32Array;
  /** 1 for warps whose lanes have parted: then each thread's own state tells. */
  readonly parted: Uint8Array;
  /** Of parted warps whose lanes are seen to go in step: their paths. */
  readonly paths: (LanePaths | undefined)[] = [];
  readonly barriers = new Map<number, NamedBarrier>();
  /** Of a block that meets others in its cluster: those. */
  cluster: ClusterBlocks | undefined;
  /** Lanes that wait at the barrier of the cluster, in `waiting`, too. */
  readonly atCluster: Int32Array;
  /** Lanes that have arrived there; and those all of whose threads have, before they have waited. */
  readonly clusterArrived: Int32Array;
  readonly clusterPassed: Int32Array;
  /** Number in the grid: see `blockIndexOf`. */
  index = 0;
  /** What the block may still spend when it is not running. */
  fuel = 0;
  /** What it has spent of earlier fuel: its clock goes on. */
  spentBefore = 0;
  /** Its bytes while another block runs. */
  memory: BlockMemory | undefined;

  constructor(readonly threads: number) {
    this.warps = Math.ceil(threads / WARP_SIZE);
    this.alive = new Int32Array(this.warps);
    this.waiting = new Int32Array(this.warps);
    this.released = new Int32Array(this.warps);
    this.state = new Int32Array(this.warps);
    this.atCluster = new Int32Array(this.warps);
    this.clusterArrived = new Int32Array(this.warps);
    this.clusterPassed = new Int32Array(this.warps);
    this.parted = new Uint8Array(this.warps);
  }

  /** Makes it a block that has not begun. */
  start(index: number, fuel: number): void {
    for (let warp = 0; warp < this.warps; warp++) {
      const lanes = Math.min(WARP_SIZE, this.threads - warp * WARP_SIZE);
      this.alive[warp] = lanes === WARP_SIZE ? -1 : (1 << lanes) - 1;
      this.state[warp] = ENTRY_STATE;
    }
    this.waiting.fill(0);
    this.released.fill(0);
    this.parted.fill(0);
    this.atCluster.fill(0);
    this.clusterArrived.fill(0);
    this.clusterPassed.fill(0);
    this.cluster = undefined;
    this.paths.length = 0;
    this.barriers.clear();
    this.index = index;
    this.fuel = fuel;
    this.spentBefore = 0;
  }
}
