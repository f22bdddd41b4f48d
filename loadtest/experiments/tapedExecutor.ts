import type {
  AccessProfile,
  BlockRange,
  ExecutionCounters,
  Executor,
  ExecutorLaunch,
  NodeMemory,
  RunResult,
  TraceSink,
} from '../../simulator/executor/index.js';
import { SampledExecutor } from './sampledExecutor.js';
import { TraceTape } from './traceTape.js';

/** What running one launch told: once filled, nothing of it needs to run again. */
export class LaunchTape {
  readonly counted = new Map<string, ExecutionCounters>();
  readonly blocks = new Map<number, TraceTape>();
}

/** Runs and traces a launch the first time, and from then on tells what its tape holds. */
export class TapedExecutor implements Executor {
  private readonly executor: SampledExecutor;

  constructor(
    memory: NodeMemory,
    private readonly tape: LaunchTape,
  ) {
    this.executor = new SampledExecutor(memory, tape.counted);
  }

  run(launch: ExecutorLaunch, range: BlockRange, variant: 'fast', fuel: number): RunResult {
    return this.executor.run(launch, range, variant, fuel);
  }

  profile(launch: ExecutorLaunch, blocks: readonly number[]): AccessProfile {
    return this.executor.profile(launch, blocks);
  }

  trace(launch: ExecutorLaunch, blocks: readonly number[], sink: TraceSink): void {
    for (const block of blocks) {
      const known = this.tape.blocks.get(block);
      if (known !== undefined) {
        known.play(block, sink);
        continue;
      }
      const tape = new TraceTape(sink);
      this.executor.trace(launch, [block], tape);
      tape.end();
      this.tape.blocks.set(block, tape);
    }
  }

  close(): void {
    this.executor.close();
  }
}
