import type { IrFunction } from '../../ptx/index.js';
import { DeviceRuntime, PrintBuffer } from '../deviceRuntime/index.js';
import { emptyCounters } from '../emptyCounters.js';
import { TextureUnits } from '../textures/index.js';
import type {
  BlockRange,
  ExecutionCounters,
  ExecutorLaunch,
  ExecutorVariant,
  KernelFault,
  RunResult,
} from '../types.js';
import { blockIndexOf, blocksTogether, meetsInCluster } from '../clusters.js';
import { BlockCluster } from './blockCluster.js';
import type { SlicePart } from './addressSlice.js';
import { BlockRun, StopRun } from './blockRun.js';
import { LaneFault } from './faults.js';
import { GlobalJournal } from './globalJournal.js';
import { GlobalMemory } from './memorySpaces.js';
import type { InterpreterObserver } from './observer.js';
import { threadOf } from './operands.js';
import { programOf } from './program.js';
import type { BranchSteer } from './blockExecution.js';
import { mayWait } from './waitingLoops.js';
import type { WarpPolicy } from './warpPolicy.js';
import { PostDominatorPolicy } from './warpPolicy.js';

/** Turns of its warps after which a block that waits for memory lets a further block start. */
const PATIENCE_ROUNDS = 64;

export interface InterpreterOptions {
  /** Which lanes step together; by default those that the classic post-dominator rule keeps together. */
  readonly policy?: (fn: IrFunction) => WarpPolicy;
  /** Steps that a warp takes before the next has its turn, unless it has to wait earlier. */
  readonly turn?: number;
  /** Runs the warps of a block from the last to the first: a kernel without races cannot tell. */
  readonly reversedWarps?: boolean;
  /** Runs each block to its end before the next starts, even where they may wait for one another. */
  readonly inTurn?: boolean;
  /**
   * Draws a whole number from 0 to `choices` - 1. With it all blocks are there from the start, and it is drawn which of them
   * goes on, in which order its warps do, and for how many steps each (at most `turn`).
   */
  readonly draw?: (choices: number) => number;
  readonly observer?: InterpreterObserver;
  /** How much of each instruction to run, if not all of it: see `addressSlice`. Memory is not what the kernel makes of it then. */
  readonly slice?: (fn: IrFunction) => readonly SlicePart[];
  /** Decides which lanes branch, of those that stand at a branch and those that pass its guard. */
  readonly steer?: BranchSteer | undefined;
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
   * Runs blocks `[lo, hi)` of a launch to their end, in order. Variants compute alike; *observed* and *undoable* keep a journal too.
   * @param fuel thread-instructions that each block may execute
   */
  run(launch: ExecutorLaunch, range: BlockRange, variant: ExecutorVariant, fuel: number): RunResult {
    const counters = emptyCounters();
    if (variant !== 'observed' && variant !== 'undoable')
      return this.execute(launch, blocksOf(range), fuel, { counters });
    const journal = new GlobalJournal(
      launch.module.space,
      () => counters.threadInstructions,
      variant === 'observed',
    );
    return { ...this.execute(launch, blocksOf(range), fuel, { counters, journal }), journal };
  }

  /** Runs the blocks of a list, in its order. */
  runBlocks(launch: ExecutorLaunch, blocks: readonly number[], fuel: number): RunResult {
    return this.execute(launch, blocks, fuel, { counters: emptyCounters() });
  }

  /** Stops once the run has executed that many thread-instructions, as a kill does. @returns what it had executed */
  runUntil(launch: ExecutorLaunch, range: BlockRange, position: number, fuel: number): ExecutionCounters {
    const { counters } = this.execute(launch, blocksOf(range), fuel, {
      counters: emptyCounters(),
      stopAt: position,
    });
    return counters;
  }

  private execute(
    launch: ExecutorLaunch,
    blocks: readonly number[],
    fuel: number,
    how: RunManner,
  ): RunResult {
    const printed = new PrintBuffer();
    const result = this.executeFor(launch, blocks, fuel, how, printed);
    const text = printed.text();
    return text === undefined ? result : { ...result, printed: text };
  }

  private executeFor(
    launch: ExecutorLaunch,
    blocks: readonly number[],
    fuel: number,
    how: RunManner,
    printed: PrintBuffer,
  ): RunResult {
    const { kernel } = launch;
    const { counters } = how;
    if (kernel.refusal !== undefined) {
      const { line, instruction, reason } = kernel.refusal;
      const fault = new LaneFault('unsupportedInstruction', `${instruction}: ${reason}`);
      return { status: 'fault', counters, fault: describe(launch, fault, blocks[0] ?? 0, 0, line) };
    }
    const program = programOf(launch, this.options.slice?.(kernel));
    const global = new GlobalMemory(launch.module.space);
    const observer = this.options.observer ?? {};
    const order = this.options.reversedWarps === true ? 'reversed' : 'forward';
    const waits = mayWait(kernel);
    const runtime = new DeviceRuntime(launch.module.space, printed);
    const textures = new TextureUnits(launch.module.space);
    const together = blocksTogether(launch);
    const meets = meetsInCluster(kernel);
    const start = (block: number, cluster: BlockCluster | undefined): BlockRun => {
      const policy = this.options.policy?.(kernel) ?? new PostDominatorPolicy(kernel);
      observer.onBlock?.(block);
      const { steer } = this.options;
      const resources = {
        program,
        global,
        params: launch.params,
        observer,
        runtime,
        textures,
        fuel,
        steer,
        ...how,
      };
      const sm = launch.place?.sms?.[block - (blocks[0] ?? 0)];
      const { turn = 256, draw } = this.options;
      return new BlockRun(launch, resources, block, policy, { turn, order, sm, draw, cluster });
    };
    const startUnit = (unit: readonly number[]): BlockRun[] => {
      const cluster = meets ? new BlockCluster() : undefined;
      return unit.map((block) => start(block, cluster));
    };
    const units = inClusters(blocks, together);

    const patience = launch.cooperative === true || this.options.draw !== undefined ? 0 : PATIENCE_ROUNDS;
    const isInTurn = this.options.inTurn === true || (patience > 0 && !waits);
    try {
      if (isInTurn) return this.runInTurn(units, startUnit, counters);
      return this.runTogether(units, startUnit, counters, patience);
    } catch (error) {
      if (error instanceof StopRun) return { status: 'done', counters };
      if (!(error instanceof BlockFault)) throw error;
      const { block, warp, pc, fault } = error;
      const line = program.steps[pc]?.instruction.line ?? kernel.line;
      return { status: 'fault', counters, fault: describe(launch, fault, block, warp, line) };
    }
  }

  /** One block after another, or one cluster where blocks meet in clusters. */
  private runInTurn(
    units: readonly (readonly number[])[],
    start: (unit: readonly number[]) => BlockRun[],
    counters: ExecutionCounters,
  ): RunResult {
    const { observer } = this.options;
    for (const unit of units) {
      let left = start(unit);
      while (left.length > 0 && observer?.hasBlock !== true) {
        for (const run of left) {
          oneRound(run);
          if (observer?.full === true) return { status: 'done', counters };
        }
        left = left.filter((run) => !run.isDone);
      }
      counters.blocks += unit.length;
      for (const block of unit) observer?.onBlockEnd?.(block);
    }
    return { status: 'done', counters };
  }

  /**
   * Blocks that may wait for one another take turns. All of a cooperative launch are there from the start (it has no
   * patience); of another a further one starts when those that are there have had many turns without an end, as when
   * they wait for it.
   */
  private runTogether(
    units: readonly (readonly number[])[],
    start: (unit: readonly number[]) => BlockRun[],
    counters: ExecutionCounters,
    patience: number,
  ): RunResult {
    const waiting = [...units];
    let resident: BlockRun[] = patience === 0 ? waiting.splice(0).flatMap(start) : [];
    let rounds = 0;
    while (resident.length > 0 || waiting.length > 0) {
      const next = resident.length === 0 || rounds >= patience ? waiting.shift() : undefined;
      if (next !== undefined) {
        resident.push(...start(next));
        rounds = 0;
      }
      for (const run of this.goingOn(resident)) {
        oneRound(run);
        if (this.options.observer?.full === true) return { status: 'done', counters };
      }
      rounds++;
      const ended = resident.filter((run) => run.isDone);
      if (ended.length === 0) continue;
      counters.blocks += ended.length;
      for (const { block } of ended) this.options.observer?.onBlockEnd?.(block);
      resident = resident.filter((run) => !run.isDone);
      rounds = 0;
    }
    return { status: 'done', counters };
  }

  /** The blocks that have their turn next: all of them, or one that is drawn. */
  private goingOn(resident: readonly BlockRun[]): readonly BlockRun[] {
    const drawn = this.options.draw?.(resident.length);
    return drawn === undefined ? resident : resident.slice(drawn, drawn + 1);
  }
}

interface RunManner {
  readonly counters: ExecutionCounters;
  readonly journal?: GlobalJournal;
  /** Thread-instructions after which the run ends. */
  readonly stopAt?: number;
}

/** A fault with the place of the block that it ended. */
class BlockFault extends Error {
  constructor(
    readonly fault: LaneFault,
    readonly block: number,
    readonly warp: number,
    readonly pc: number,
  ) {
    super(fault.message);
  }
}

function oneRound(run: BlockRun): void {
  try {
    run.round();
  } catch (error) {
    if (!(error instanceof LaneFault)) throw error;
    const { block, warp, pc } = error.at ?? { block: run.block, ...run.lastPlace };
    throw new BlockFault(error, block, warp, pc);
  }
}

/** The blocks that must be there together, cluster by cluster. @throws RangeError for a part of a cluster */
function inClusters(blocks: readonly number[], together: number): readonly (readonly number[])[] {
  if (together === 1) return blocks.map((block) => [block]);
  const units: number[][] = [];
  for (let at = 0; at < blocks.length; at += together) {
    const unit = blocks.slice(at, at + together);
    const first = unit[0] ?? 0;
    if (
      first % together !== 0 ||
      unit.length < together ||
      unit.some((block, rank) => block !== first + rank)
    )
      throw new RangeError(`block ${first}: clusters of ${together} blocks run whole`);
    units.push(unit);
  }
  return units;
}

function blocksOf(range: BlockRange): number[] {
  return Array.from({ length: Math.max(range.hi - range.lo, 0) }, (_, index) => range.lo + index);
}

function describe(
  launch: ExecutorLaunch,
  fault: LaneFault,
  block: number,
  warp: number,
  line: number,
): KernelFault {
  const { kernel, module, shape } = launch;
  const blockIndex = blockIndexOf(launch, block);
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
