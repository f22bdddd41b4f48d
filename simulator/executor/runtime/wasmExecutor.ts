import { REGION_RESULT } from '../compiler/index.js';
import type { NodeMemory } from '../memory/index.js';
import type {
  AccessProfile,
  BlockRange,
  Executor,
  ExecutorLaunch,
  ExecutorVariant,
  KernelFault,
  RunResult,
  TraceSink,
} from '../types.js';
import { BlockScheduler } from './blockScheduler.js';
import { readCounters, readThreadInstructions } from './counters.js';
import { ExecutorError } from './executorError.js';
import { readFault } from './faults.js';
import { traceBlocks } from './tracer.js';
import { AccessProfiler } from './accessProfiler.js';
import { KernelCache, type ReadyKernel } from './kernelCache.js';
import { LaunchArea } from './launchArea.js';

/**
 * Thread-instructions that one call into compiled code should do. V8 replaces a function by its optimised version only
 * when it is called anew, so one long call would stay in the baseline compiler's code.
 */
const INSTRUCTIONS_PER_CALL = 400_000;

/** Thread-instructions that a traced block may execute: the interpreter does about a million a second. */
const TRACE_FUEL = 20_000_000;

/** Runs kernels as WebAssembly on one node's memory. One launch at a time. */
export class WasmExecutor implements Executor {
  private readonly area: LaunchArea;
  private readonly kernels: KernelCache;

  constructor(memory: NodeMemory) {
    this.area = new LaunchArea(memory);
    this.kernels = new KernelCache(memory);
  }

  /**
   * @throws ExecutorError for a launch that does not fit; CompileError for a kernel with an instruction that is not
   * supported; MemoryError when thread contexts do not fit in the node's backing.
   */
  run(launch: ExecutorLaunch, range: BlockRange, variant: ExecutorVariant, fuel: number): RunResult {
    if (variant !== 'fast') {
      throw new ExecutorError(
        'unsupportedVariant',
        `variant '${variant}' cannot run kernels yet; use 'fast'`,
      );
    }
    checkRange(launch, range, fuel);
    const kernel = this.kernels.get(launch.module.ir, launch.kernel);
    this.area.begin(launch, kernel.compiled, fuel);
    try {
      const { fault, blocks } =
        kernel.run === undefined
          ? this.runScheduled(launch, kernel, range)
          : this.runBlocks(launch, kernel, kernel.run, range);
      const counters = readCounters(this.area, kernel.compiled, blocks);
      return fault === undefined ? { status: 'done', counters } : { status: 'fault', counters, fault };
    } finally {
      this.area.end();
    }
  }

  /** A fault ends the sample early; what was seen until then counts. */
  profile(launch: ExecutorLaunch, blocks: readonly number[]): AccessProfile {
    const profiler = new AccessProfiler(launch.kernel);
    this.trace(launch, blocks, profiler);
    return profiler.profile();
  }

  trace(launch: ExecutorLaunch, blocks: readonly number[], sink: TraceSink): void {
    traceBlocks(launch, blocks, sink, TRACE_FUEL);
  }

  private runBlocks(
    launch: ExecutorLaunch,
    kernel: ReadyKernel,
    run: (lo: number, hi: number) => number,
    range: BlockRange,
  ): { fault: KernelFault | undefined; blocks: number } {
    let chunk = 1;
    for (let lo = range.lo; lo < range.hi;) {
      const hi = Math.min(range.hi, lo + chunk);
      if (run(lo, hi) === REGION_RESULT.fault) {
        const fault = readFault(this.area, launch);
        const [x, y] = launch.shape.grid;
        return { fault, blocks: fault.block[0] + x * (fault.block[1] + y * fault.block[2]) - range.lo };
      }
      lo = hi;
      const perBlock = readThreadInstructions(this.area, kernel.compiled) / (lo - range.lo);
      chunk = Math.max(1, Math.min(chunk * 8, Math.floor(INSTRUCTIONS_PER_CALL / Math.max(1, perBlock))));
    }
    return { fault: undefined, blocks: range.hi - range.lo };
  }

  private runScheduled(
    launch: ExecutorLaunch,
    kernel: ReadyKernel,
    range: BlockRange,
  ): { fault: KernelFault | undefined; blocks: number } {
    const scheduler = new BlockScheduler(this.area, launch, kernel);
    for (let block = range.lo; block < range.hi; block++) {
      this.area.beginBlock(block, launch.shape.grid);
      const fault = scheduler.run();
      if (fault !== undefined) return { fault, blocks: block - range.lo };
    }
    return { fault: undefined, blocks: range.hi - range.lo };
  }
}

function checkRange(launch: ExecutorLaunch, range: BlockRange, fuel: number): void {
  const [x, y, z] = launch.shape.grid;
  const blocks = x * y * z;
  if (
    !Number.isInteger(range.lo) ||
    !Number.isInteger(range.hi) ||
    range.lo < 0 ||
    range.lo > range.hi ||
    range.hi > blocks
  ) {
    throw new ExecutorError(
      'invalidLaunch',
      `${launch.kernel.name}: block range [${range.lo}, ${range.hi}) is not within the grid's ${blocks} blocks`,
    );
  }
  if (!Number.isSafeInteger(fuel) || fuel <= 0) {
    throw new ExecutorError(
      'invalidLaunch',
      `${launch.kernel.name}: fuel must be a positive integer, got ${fuel}`,
    );
  }
}
