import {
  WasmExecutor,
  emptyCounters,
  type BlockRange,
  type ExecutionCounters,
  type Executor,
  type ExecutorLaunch,
  type InstructionClass,
  type NodeMemory,
  type RunResult,
  type TraceSink,
} from '../../simulator/executor/index.js';
import type { AccessProfile } from '../../simulator/executor/testing/index.js';

/** Blocks this far apart execute alike in all of the measured scenarios. */
const PERIOD = 16;

/**
 * Runs one block of each kind and takes its counts for the others: of grids of which only the time is wanted, and whose
 * blocks repeat. What the launches would leave in memory is not there.
 */
export class SampledExecutor implements Executor {
  private readonly executor: WasmExecutor;

  constructor(
    memory: NodeMemory,
    /** Counts by launch and kind of block; may outlive the executor. */
    private readonly counted: Map<string, ExecutionCounters>,
  ) {
    this.executor = new WasmExecutor(memory);
  }

  run(launch: ExecutorLaunch, range: BlockRange, variant: 'fast', fuel: number): RunResult {
    const sum = emptyCounters();
    const name = nameOf(launch);
    for (let block = range.lo; block < range.hi; block++) {
      const key = `${name}/${block % PERIOD}`;
      let counters = this.counted.get(key);
      if (counters === undefined) {
        const result = this.executor.run(launch, { lo: block, hi: block + 1 }, variant, fuel);
        if (result.status !== 'done') return result;
        counters = result.counters;
        this.counted.set(key, counters);
      }
      addTo(sum, counters);
    }
    return { status: 'done', counters: sum };
  }

  profile(launch: ExecutorLaunch, blocks: readonly number[]): AccessProfile {
    return this.executor.profile(launch, blocks);
  }

  trace(launch: ExecutorLaunch, blocks: readonly number[], sink: TraceSink): void {
    this.executor.trace(launch, blocks, sink);
  }

  close(): void {
    this.executor.close();
  }
}

/** Kernel, shape and the arguments that are no pointers. */
function nameOf({ kernel, shape, params }: ExecutorLaunch): string {
  const words = kernel.parameters
    .filter(({ bytes }) => bytes === 4)
    .map(({ offset }) => new DataView(params.buffer, params.byteOffset).getInt32(offset, true));
  return [kernel.name, ...shape.grid, ...shape.block, shape.dynamicSharedBytes, ...words].join();
}

export function addTo(sum: ExecutionCounters, more: ExecutionCounters): void {
  sum.threadInstructions += more.threadInstructions;
  sum.warpInstructions += more.warpInstructions;
  for (const name of Object.keys(sum.byClass) as InstructionClass[]) sum.byClass[name] += more.byClass[name];
  sum.globalLoadBytes += more.globalLoadBytes;
  sum.globalStoreBytes += more.globalStoreBytes;
  sum.sharedBytes += more.sharedBytes;
  sum.blocks += more.blocks;
}
