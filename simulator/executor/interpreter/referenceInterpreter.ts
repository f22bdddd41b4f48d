import type { IrFunction } from '../../ptx/index.js';
import type {
  BlockRange,
  ExecutionCounters,
  ExecutorLaunch,
  ExecutorVariant,
  KernelFault,
  RunResult,
} from '../types.js';
import { BlockExecution, blockIndexOf } from './blockExecution.js';
import { emptyCounters } from '../emptyCounters.js';
import { LaneFault } from './faults.js';
import { GlobalMemory } from './memorySpaces.js';
import type { InterpreterObserver } from './observer.js';
import { threadOf } from './operands.js';
import type { Program } from './program.js';
import { makeProgram } from './program.js';
import type { WarpPolicy } from './warpPolicy.js';
import { PostDominatorPolicy } from './warpPolicy.js';

export interface InterpreterOptions {
  /** Which lanes step together; by default those that the classic post-dominator rule keeps together. */
  readonly policy?: (fn: IrFunction) => WarpPolicy;
  /** Steps that a warp takes before the next has its turn, unless it has to wait earlier. */
  readonly turn?: number;
  /** Runs the warps of a block from the last to the first: a kernel without races cannot tell. */
  readonly reversedWarps?: boolean;
  readonly observer?: InterpreterObserver;
}

/**
 * Runs kernels one warp step at a time, in plain TypeScript: the oracle that compiled code is held to. It shares with the
 * compiler the IR, the arithmetic and the layout of variables, and nothing else.
 */
export class ReferenceInterpreter {
  private readonly options: InterpreterOptions;

  constructor(options: InterpreterOptions = {}) {
    this.options = options;
  }

  /**
   * Runs blocks `[lo, hi)` of a launch to their end, in order. Variants compute alike, so `variant` changes nothing here.
   * @param fuel thread-instructions that each block may execute
   */
  run(launch: ExecutorLaunch, range: BlockRange, _variant: ExecutorVariant, fuel: number): RunResult {
    const blocks = Array.from({ length: Math.max(range.hi - range.lo, 0) }, (_, index) => range.lo + index);
    return this.runBlocks(launch, blocks, fuel);
  }

  /** Runs the blocks of a list, in its order. */
  runBlocks(launch: ExecutorLaunch, blocks: readonly number[], fuel: number): RunResult {
    const counters = emptyCounters();
    const { kernel } = launch;
    if (kernel.refusal !== undefined) {
      const { line, instruction, reason } = kernel.refusal;
      const fault = new LaneFault('unsupportedInstruction', `${instruction}: ${reason}`);
      return { status: 'fault', counters, fault: describe(launch, fault, blocks[0] ?? 0, 0, line) };
    }
    const program = makeProgram(launch);
    const global = new GlobalMemory(launch.module.space);
    for (const block of blocks) {
      this.options.observer?.onBlock?.(block);
      const fault = this.runBlock(launch, program, global, block, counters, fuel);
      if (fault !== undefined) return { status: 'fault', counters, fault };
      counters.blocks++;
      if (this.options.observer?.full === true) break;
    }
    return { status: 'done', counters };
  }

  private runBlock(
    launch: ExecutorLaunch,
    program: Program,
    global: GlobalMemory,
    block: number,
    counters: ExecutionCounters,
    fuel: number,
  ): KernelFault | undefined {
    const { shape } = launch;
    const observer = this.options.observer ?? {};
    const execution = new BlockExecution(
      { program, global, params: launch.params, counters, observer, fuel },
      {
        grid: shape.grid,
        block: shape.block,
        blockIndex: blockIndexOf(shape.grid, block),
        warps: Math.ceil((shape.block[0] * shape.block[1] * shape.block[2]) / 32),
        dynamicSharedBytes: shape.dynamicSharedBytes,
        totalSharedBytes: program.sharedBytes,
      },
    );
    try {
      this.drive(execution, launch.kernel, observer);
      return undefined;
    } catch (error) {
      if (!(error instanceof LaneFault)) throw error;
      const { warp, pc } = execution.lastPlace;
      const line = program.steps[pc]?.instruction.line ?? launch.kernel.line;
      return describe(launch, error, block, warp, line);
    }
  }

  private drive(execution: BlockExecution, kernel: IrFunction, observer: InterpreterObserver): void {
    const policy = this.options.policy?.(kernel) ?? new PostDominatorPolicy(kernel);
    const turn = this.options.turn ?? 256;
    const order = this.options.reversedWarps === true ? [...execution.warps].reverse() : execution.warps;
    for (const warp of order) policy.start(warp);
    while (!execution.isDone) {
      let steps = 0;
      for (const warp of order) {
        for (let taken = 0; taken < turn; taken++) {
          const set = policy.next(warp);
          if (set === undefined) break;
          execution.step(set.warp, set.lanes, set.pc);
          policy.stepped(set);
          steps++;
          if (observer.full === true) return;
        }
      }
      if (steps === 0 && !execution.isDone) throw execution.stuck();
    }
  }
}

function describe(
  launch: ExecutorLaunch,
  fault: LaneFault,
  block: number,
  warp: number,
  line: number,
): KernelFault {
  const { kernel, module, shape } = launch;
  const blockIndex = blockIndexOf(shape.grid, block);
  const thread = threadOf(shape.block, warp, fault.lane);
  return {
    code: fault.code,
    kernel: kernel.name,
    message: `${kernel.name}: ${fault.message} (block ${blockIndex.join(',')}, thread ${thread.join(',')}, ${module.ir.file}:${line})`,
    block: blockIndex,
    thread,
    ptxFile: module.ir.file,
    ptxLine: line,
    ...(fault.address === undefined ? {} : { address: fault.address }),
  };
}
