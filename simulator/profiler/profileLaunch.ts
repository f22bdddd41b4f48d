import {
  traceRange,
  type BlockRange,
  type ExecutorLaunch,
  type InstructionCounts,
  type KernelFault,
  type WasmExecutor,
} from '../executor/index.js';
import { sampleBlocks } from './blockSample.js';
import { CountingSink } from './countingSink.js';
import type { Coverage } from './profileReport.js';

export interface ProfileProgress {
  /** What is being done: running the launch for its simulated time, tracing, or running what lies between traced blocks. */
  readonly doing: 'time' | 'trace' | 'run';
  readonly blocks: number;
  readonly ofBlocks: number;
  readonly tracedThreadInstructions: number;
}

export interface LaunchProfileOptions {
  /** Blocks to trace: all, or a sample of so many; by default all that the budget allows. */
  readonly blocks?: number | 'all';
  /** Thread-instructions to trace when `blocks` is not given. */
  readonly budget?: number;
  readonly seed?: number;
  /** Only the sampled blocks run, each on memory as the launch finds it. */
  readonly onlySample?: boolean;
  /** Thread-instructions that a block may execute. */
  readonly fuelPerBlock?: number;
  /** Thread-instructions of the whole launch, where they are known. */
  readonly threadInstructions?: number;
  readonly onProgress?: (progress: ProfileProgress) => void;
}

export const DEFAULT_BUDGET = 4_000_000;
export const DEFAULT_SEED = 1;
export const DEFAULT_FUEL = 2 ** 32;

/** What became of a launch under the eyes of the profiler. */
export interface CountedLaunch {
  readonly sink: CountingSink;
  readonly coverage: Coverage;
  /** Instructions that ran, but in no block that was traced: what is known of them is how often. */
  readonly unseen: ReadonlySet<number>;
  readonly fault?: KernelFault;
  readonly printed?: string;
}

/** Blocks that run between two tellings of progress. */
const PIECES = 64;

/**
 * Runs a launch and counts what its instructions do. Where all blocks are traced, every count is exact. Of a sample, the
 * others run as compiled code that counts how often each instruction is executed, and what was traced of an instruction
 * is scaled by that.
 */
export function profileLaunch(
  executor: WasmExecutor,
  launch: ExecutorLaunch,
  options: LaunchProfileOptions = {},
): CountedLaunch {
  return new LaunchProfiling(executor, launch, options).run();
}

class LaunchProfiling {
  private readonly gridBlocks: number;
  private readonly budget: number;
  private readonly seed: number;
  private readonly fuel: number;
  private readonly sink: CountingSink;
  private ranBlocks = 0;
  private cutBlocks = 0;
  private printed = '';

  constructor(
    private readonly executor: WasmExecutor,
    private readonly launch: ExecutorLaunch,
    private readonly options: LaunchProfileOptions,
  ) {
    const [x, y, z] = launch.shape.grid;
    this.gridBlocks = x * y * z;
    this.budget = options.budget ?? DEFAULT_BUDGET;
    this.seed = options.seed ?? DEFAULT_SEED;
    this.fuel = options.fuelPerBlock ?? DEFAULT_FUEL;
    this.sink = new CountingSink(launch.kernel, () => this.tell('trace'));
  }

  run(): CountedLaunch {
    if (this.waits()) return this.traceAll(this.options.blocks === undefined ? this.budget : Infinity);
    const { blocks, isWhole } = this.wanted();
    if (this.options.onlySample === true) return this.traceSampleOnly(blocks);
    return isWhole ? this.traceAll(Infinity) : this.traceSample(blocks);
  }

  /** Whether blocks may wait for one another, so that none can be traced without the others. */
  private waits(): boolean {
    return this.executor.needsWholeGrid(this.launch);
  }

  /** Blocks to trace, and whether all of the launch is. A few long blocks may be too much for the budget, too. */
  private wanted(): { readonly blocks: number; readonly isWhole: boolean } {
    const { gridBlocks, budget } = this;
    const { blocks, threadInstructions } = this.options;
    if (blocks !== undefined) {
      const isWhole = blocks === 'all' || blocks >= gridBlocks;
      return { blocks: isWhole ? gridBlocks : blocks, isWhole };
    }
    const total = threadInstructions ?? this.estimatedInstructions();
    if (total <= budget) return { blocks: gridBlocks, isWhole: true };
    return { blocks: Math.max(1, Math.floor((budget * gridBlocks) / total)), isWhole: false };
  }

  /** By the block in the middle; its trace is thrown away. */
  private estimatedInstructions(): number {
    const probe = new CountingSink(this.launch.kernel);
    probe.allow(this.budget + 1);
    this.executor.trace(this.launch, [Math.floor(this.gridBlocks / 2)], probe);
    return probe.threadInstructions * this.gridBlocks;
  }

  private traceAll(limit: number): CountedLaunch {
    const { sink } = this;
    sink.allow(limit);
    this.ranBlocks = this.gridBlocks;
    const result = traceRange(this.launch, { lo: 0, hi: this.gridBlocks }, sink, this.fuel);
    const isWhole = !sink.full && result.status !== 'fault';
    return this.outcome(
      {
        kind: isWhole ? 'all' : 'part',
        ...(isWhole ? {} : { endedBy: result.status === 'fault' ? 'fault' : 'budget' }),
        tracedBlocks: sink.blocks,
        ranBlocks: sink.blocks,
      },
      result.status === 'fault' ? result.fault : undefined,
      new Set(),
      result.printed,
    );
  }

  private traceSample(wanted: number): CountedLaunch {
    const { launch, sink } = this;
    const { length } = launch.kernel.instructions;
    const counts = { threads: new Float64Array(length), warps: new Float64Array(length) };
    const sample = sampleBlocks(this.gridBlocks, wanted, this.seed);
    let fault: KernelFault | undefined;
    let next = 0;
    for (const block of sample) {
      fault = this.runTo(next, block, counts);
      if (fault !== undefined) break;
      this.traceBlock(block, sample.length);
      next = block;
    }
    fault ??= this.runTo(next, this.gridBlocks, counts);
    const unseen = scaleToCounts(sink, counts);
    return this.outcome(
      {
        kind: 'sample',
        ...(fault === undefined ? {} : { endedBy: 'fault' as const }),
        tracedBlocks: sink.blocks,
        ranBlocks: this.ranBlocks,
        seed: this.seed,
      },
      fault,
      unseen,
      this.printed === '' ? undefined : this.printed,
    );
  }

  private traceSampleOnly(wanted: number): CountedLaunch {
    const { sink } = this;
    const sample = sampleBlocks(this.gridBlocks, wanted, this.seed);
    for (const block of sample) this.traceBlock(block, sample.length);
    const factor = this.gridBlocks / Math.max(1, sink.blocks);
    for (let index = 0; index < sink.table.instructions; index++) sink.table.scale(index, factor);
    return this.outcome(
      { kind: 'sampleOnly', tracedBlocks: sink.blocks, ranBlocks: sink.blocks, seed: this.seed },
      undefined,
      new Set(),
      undefined,
    );
  }

  /** One block of the sample, with its share of the budget; memory is as before afterwards. */
  private traceBlock(block: number, sampled: number): void {
    const share = this.options.blocks === undefined ? Math.ceil(this.budget / sampled) * 2 : Infinity;
    this.sink.allow(share);
    this.executor.trace(this.launch, [block], this.sink);
    if (this.sink.full) this.cutBlocks += 1;
    this.tell('trace');
  }

  /** Runs blocks as compiled code. @returns the fault that ended it */
  private runTo(lo: number, hi: number, counts: InstructionCounts): KernelFault | undefined {
    const step = Math.max(1, Math.ceil(this.gridBlocks / PIECES));
    for (let first = lo; first < hi; first += step) {
      const range: BlockRange = { lo: first, hi: Math.min(hi, first + step) };
      const result = this.executor.runCounted(this.launch, range, this.fuel, counts);
      this.ranBlocks += result.counters.blocks;
      this.printed += result.printed ?? '';
      if (result.status === 'fault') return result.fault;
      this.tell('run');
    }
    return undefined;
  }

  private tell(doing: ProfileProgress['doing']): void {
    this.options.onProgress?.({
      doing,
      blocks: doing === 'run' ? this.ranBlocks : this.sink.blocks,
      ofBlocks: this.gridBlocks,
      tracedThreadInstructions: this.sink.threadInstructions,
    });
  }

  private outcome(
    coverage: Omit<Coverage, 'gridBlocks' | 'cutBlocks' | 'tracedThreadInstructions'>,
    fault: KernelFault | undefined,
    unseen: ReadonlySet<number>,
    printed: string | undefined,
  ): CountedLaunch {
    return {
      sink: this.sink,
      coverage: {
        ...coverage,
        gridBlocks: this.gridBlocks,
        cutBlocks: this.cutBlocks,
        tracedThreadInstructions: this.sink.threadInstructions,
      },
      unseen,
      ...(fault === undefined ? {} : { fault }),
      ...(printed === undefined ? {} : { printed }),
    };
  }
}

/**
 * Scales what was traced of each instruction to how often the whole launch executed it.
 * @returns the instructions that no traced block executed
 */
function scaleToCounts({ table }: CountingSink, counts: InstructionCounts): Set<number> {
  const unseen = new Set<number>();
  for (let index = 0; index < table.instructions; index++) {
    const threads = counts.threads[index];
    const traced = table.get(index, 'threadInstructions');
    if (traced > 0) table.scale(index, threads / traced);
    else if (threads > 0) {
      unseen.add(index);
      table.set(index, 'warpInstructions', counts.warps[index]);
    }
    table.set(index, 'threadInstructions', threads);
  }
  return unseen;
}
