import type { ExecutionCounters, LaunchShape } from '../../executor/index.js';
import type { KernelProfile } from '../timing/index.js';
import {
  COSTS_FORMAT,
  COSTS_VERSION,
  writtenProfile,
  type CostDocument,
  type CostVariant,
  type KernelCosts,
} from './costDocument.js';

/** Of a launch, what a recorder keeps. */
export interface RecordedLaunch {
  readonly kernel: string;
  readonly shape: LaunchShape;
  readonly lo: number;
  readonly hi: number;
  readonly next: number;
  readonly registers: number;
  readonly sharedBytes: number;
}

type Run = [blocks: number, warpInstructions: number, threadInstructions: number];

/** Keeps what launches cost while they are executed. Of equal launches the first counts; parts of grids do not. */
export class CostRecorder {
  private isOn = false;
  private readonly open = new WeakMap<RecordedLaunch, Run[]>();
  /** By card, then by module, kernel and block. */
  private readonly kernels = new Map<string, Map<string, KernelCosts>>();

  start(): void {
    this.isOn = true;
  }

  get isRecording(): boolean {
    return this.isOn;
  }

  /** The next `blocks` of a launch have been executed; `next` of the launch is past them. */
  onBlocks(
    device: string,
    launch: RecordedLaunch,
    module: { readonly identity: string; readonly file: string },
    scalars: () => string,
    blocks: number,
    counters: ExecutionCounters,
    profile: KernelProfile,
  ): void {
    const { grid } = launch.shape;
    if (launch.lo !== 0 || launch.hi !== grid[0] * grid[1] * grid[2]) return;
    let runs = this.open.get(launch);
    if (runs === undefined) this.open.set(launch, (runs = []));
    addRun(runs, blocks, counters);
    if (launch.next < launch.hi) return;
    this.open.delete(launch);
    this.keep(this.kernelsOf(device), launch, module, scalars(), runs, profile);
  }

  /** All that has been recorded on cards of this name. */
  document(device: string): CostDocument {
    return {
      format: COSTS_FORMAT,
      version: COSTS_VERSION,
      device,
      kernels: [...this.kernelsOf(device).values()],
    };
  }

  private kernelsOf(device: string): Map<string, KernelCosts> {
    let kernels = this.kernels.get(device);
    if (kernels === undefined) this.kernels.set(device, (kernels = new Map<string, KernelCosts>()));
    return kernels;
  }

  private keep(
    kernels: Map<string, KernelCosts>,
    { kernel, shape, registers, sharedBytes }: RecordedLaunch,
    { identity, file }: { readonly identity: string; readonly file: string },
    scalars: string,
    blocks: Run[],
    profile: KernelProfile,
  ): void {
    const { grid, block, dynamicSharedBytes } = shape;
    const key = `${identity}|${kernel}|${block.join()}|${dynamicSharedBytes}`;
    let costs = kernels.get(key);
    if (costs === undefined) {
      costs = {
        module: identity,
        file,
        kernel,
        block: [...block],
        dynamicSharedBytes,
        registers,
        sharedBytes,
        variants: [],
      };
      kernels.set(key, costs);
    }
    const isKnown = costs.variants.some(
      (known) => known.grid.join() === grid.join() && known.scalars === scalars,
    );
    if (isKnown) return;
    const variant: CostVariant = { grid: [...grid], scalars, blocks, profile: writtenProfile(profile) };
    costs.variants.push(variant);
  }
}

function addRun(runs: Run[], blocks: number, counters: ExecutionCounters): void {
  const counted = Math.max(1, counters.blocks);
  const warpInstructions = counters.warpInstructions / counted;
  const threadInstructions = counters.threadInstructions / counted;
  const last = runs.at(-1);
  if (last?.[1] === warpInstructions && last[2] === threadInstructions) last[0] += blocks;
  else runs.push([blocks, warpInstructions, threadInstructions]);
}
