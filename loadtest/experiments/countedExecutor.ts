import {
  WasmExecutor,
  emptyCounters,
  type BlockRange,
  type ExecutionCounters,
  type Executor,
  type ExecutorLaunch,
  type NodeMemory,
  type RunResult,
  type TraceSink,
} from '../../simulator/executor/index.js';
import type { AccessProfile } from '../../simulator/executor/testing/index.js';
import { addTo } from './sampledExecutor.js';
import { TraceTape } from './traceTape.js';

/** What running one launch told: once filled, nothing of it needs to run again. */
export class CountedLaunch {
  /** Of every block where there are few or they differ, else one that stands for all. */
  counters: readonly ExecutionCounters[] = [];
  readonly blocks = new Map<number, TraceTape>();
}

/** Blocks all over the grid that show whether its blocks execute alike. */
const SAMPLES = 64;
const ALIKE = 1.02;

/**
 * Runs and traces a launch the first time, and from then on tells what was found. Of a grid of like blocks only some run;
 * where blocks differ, all do, each by itself, so that any part of the grid can be told later.
 */
export class CountedExecutor implements Executor {
  private readonly executor: WasmExecutor;

  constructor(
    memory: NodeMemory,
    private readonly known: CountedLaunch,
  ) {
    this.executor = new WasmExecutor(memory);
  }

  run(launch: ExecutorLaunch, range: BlockRange, variant: 'fast', fuel: number): RunResult {
    if (this.known.counters.length === 0) {
      const [x, y, z] = launch.shape.grid;
      const found = this.count(launch, x * y * z, variant, fuel);
      if (!Array.isArray(found)) return found;
      this.known.counters = found;
    }
    const { counters } = this.known;
    const sum = emptyCounters();
    for (let block = range.lo; block < range.hi; block++) addTo(sum, counters[block % counters.length]);
    return { status: 'done', counters: sum };
  }

  profile(launch: ExecutorLaunch, blocks: readonly number[]): AccessProfile {
    return this.executor.profile(launch, blocks);
  }

  trace(launch: ExecutorLaunch, blocks: readonly number[], sink: TraceSink): void {
    for (const block of blocks) {
      const known = this.known.blocks.get(block);
      if (known !== undefined) {
        known.play(block, sink);
        continue;
      }
      const tape = new TraceTape(sink);
      this.executor.trace(launch, [block], tape);
      tape.end();
      this.known.blocks.set(block, tape);
    }
  }

  close(): void {
    this.executor.close();
  }

  /** @returns counters of one block that stands for all, or of all, or how one failed */
  private count(
    launch: ExecutorLaunch,
    blocks: number,
    variant: 'fast',
    fuel: number,
  ): ExecutionCounters[] | RunResult {
    const sampled: ExecutionCounters[] = [];
    const step = Math.max(1, Math.floor(blocks / SAMPLES));
    for (let block = 0; block < blocks; block += step) {
      const result = this.executor.run(launch, { lo: block, hi: block + 1 }, variant, fuel);
      if (result.status !== 'done') return result;
      sampled.push(result.counters);
    }
    if (step === 1) return sampled;
    const lengths = sampled.map(({ warpInstructions }) => warpInstructions);
    if (Math.max(...lengths) <= ALIKE * Math.min(...lengths)) return [sampled[sampled.length >> 1]];
    const all: ExecutionCounters[] = [];
    for (let block = 0; block < blocks; block++) {
      const result = this.executor.run(launch, { lo: block, hi: block + 1 }, variant, fuel);
      if (result.status !== 'done') return result;
      all.push(result.counters);
    }
    return all;
  }
}
