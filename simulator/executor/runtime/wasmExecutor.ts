import {
  CompileError,
  NOTHING_LEFT_OUT,
  RECORD,
  REGION_RESULT,
  STOPPED,
  type CodeForm,
  type Optimisation,
} from '../compiler/index.js';
import type { NodeMemory } from '../memory/index.js';
import type {
  AccessJournal,
  AccessProfile,
  BlockRange,
  ExecutionCounters,
  Executor,
  ExecutorLaunch,
  ExecutorVariant,
  InstructionCounts,
  RunResult,
  SuspendedRun,
  TraceSink,
} from '../types.js';
import { RunJournal } from './accessJournal.js';
import { BlocksInOrder } from './blocksInOrder.js';
import { BlockTurns, type BlocksInFlight, type TurnsEnd } from './blockTurns.js';
import { CallSize } from './callSize.js';
import type { CodeMaker, WantedCode } from './codeMaker.js';
import { CodeTiers, type Tier } from './codeTiers.js';
import { addCounters, addInstructionCounts, readCounters, readUse } from './counters.js';
import { ExecutorError } from './executorError.js';
import { readFault } from './faults.js';
import { traceBlocks } from './tracer.js';
import { AccessProfiler } from './accessProfiler.js';
import { HostRuntime } from './hostRuntime.js';
import { KernelCache, type ReadyKernel } from './kernelCache.js';
import { LaunchArea } from './launchArea.js';
import type { PreparedKernel } from './preparedKernels.js';
import { ParallelLaunches, type ParallelOptions } from './parallel/index.js';

/** Thread-instructions that a traced block may execute: the interpreter does about a million a second. */
const TRACE_FUEL = 20_000_000;

interface ObservedHow {
  /** Position of the first access that must not happen any more. */
  readonly stopAt?: number;
  /** Default true. */
  readonly tracesLoads?: boolean;
}

export interface WasmExecutorOptions {
  /** Lanes go together wherever they can, for tests (see CodeForm). */
  readonly alwaysTogether?: boolean;
  /**
   * Thread-instructions that a kernel executes lane after lane before code for lanes together is made: 0 makes it at once,
   * for kernels that are known to run long or often. By default what making it costs; it is used at once where it is there.
   */
  readonly vectorAfter?: number;
  /** Forms in which each kernel that runs is made as well, for threads that take over what this one has made; read at each run. */
  readonly alsoIn?: readonly CodeForm[];
  /** Optimisations to do without, to see what each brings. */
  readonly without?: ReadonlySet<Optimisation>;
  /**
   * Threads of the host that run blocks of large launches, the caller's own included; 1 by default. The others are
   * started when a launch is large enough, end with `close` and keep no process alive.
   */
  readonly threads?: number;
  /** Another thread that makes code, so that no launch waits for it once a kernel has run; without one it is made here. */
  readonly maker?: CodeMaker;
  /** How they do it, for tests. */
  readonly parallel?: Pick<ParallelOptions, 'eager' | 'file' | 'patienceMs'>;
}

/** Runs kernels as WebAssembly on one node's memory. One launch at a time. */
export class WasmExecutor implements Executor {
  private readonly area: LaunchArea;
  private readonly host: HostRuntime;
  private readonly kernels: KernelCache;
  private readonly tiers: CodeTiers;
  private readonly alsoIn: readonly CodeForm[];
  private readonly parallel: ParallelLaunches | undefined;
  private journal: RunJournal | undefined;
  private counts: InstructionCounts | undefined;

  constructor(memory: NodeMemory, options: WasmExecutorOptions = {}) {
    const { without = NOTHING_LEFT_OUT, threads = 1, parallel, maker } = options;
    this.alsoIn = options.alsoIn ?? [];
    this.area = new LaunchArea(memory);
    this.host = new HostRuntime(this.area, memory);
    this.kernels = new KernelCache(
      memory,
      () => this.journal?.take(this.area),
      this.host.functions,
      without,
      {
        maker,
      },
    );
    const {
      alwaysTogether = false,
      vectorAfter = alwaysTogether || parallel?.eager === true ? 0 : undefined,
    } = options;
    this.tiers = new CodeTiers(this.kernels, { alwaysTogether, vectorAfter });
    if (threads > 1 && !without.has('threads'))
      this.parallel = new ParallelLaunches(memory, this.area, { workers: threads - 1, without, ...parallel });
  }

  /**
   * Counters and journal tell of this call.
   * @throws ExecutorError for a launch that does not fit; CompileError for a kernel with an instruction that is not
   * supported; MemoryError when thread contexts do not fit in the node's backing.
   */
  run(launch: ExecutorLaunch, range: BlockRange, variant: ExecutorVariant, fuel: number): RunResult {
    checkRange(launch, range, fuel);
    if (variant === 'observed' || variant === 'undoable')
      return this.observe(launch, range, fuel, { tracesLoads: variant === 'observed' });
    const blocks = { active: [], next: range.lo };
    return this.runKernel(launch, range, blocks, fuel, { resumable: variant === 'resumable' });
  }

  /** As a *fast* `run`, and adds to `counts` how often each instruction of the kernel was executed. @throws as `run`. */
  runCounted(launch: ExecutorLaunch, range: BlockRange, fuel: number, counts: InstructionCounts): RunResult {
    this.counts = counts;
    try {
      return this.run(launch, range, 'fast', fuel);
    } finally {
      this.counts = undefined;
    }
  }

  /**
   * Runs observed until the access at `position` (counted as in AccessJournal) would be next.
   * @throws as `run`.
   */
  runUntil(
    launch: ExecutorLaunch,
    range: BlockRange,
    position: number,
    fuel: number,
  ): { readonly journal: AccessJournal; readonly stopped: boolean } {
    checkRange(launch, range, fuel);
    const { journal } = this.observe(launch, range, fuel, { stopAt: position });
    if (journal === undefined) throw new RangeError('an observed run has a journal');
    return { journal, stopped: this.area.get(RECORD.faultCode) === STOPPED };
  }

  /**
   * A suspended run lives in no memory of the node: launches may run in between, and a snapshot or fork of the node holds
   * none. Its launch's address space must still be there.
   */
  resume(suspended: SuspendedRun, fuel: number): RunResult {
    if (!(suspended instanceof SuspendedBlocks) || suspended.executor !== this) {
      throw new ExecutorError(
        'invalidResume',
        `${suspended.launch.kernel.name}: the suspended run is of another executor; resume it where it was suspended`,
      );
    }
    const { launch, range } = suspended;
    checkRange(launch, range, fuel);
    return this.runKernel(launch, range, suspended.take(), fuel, { resumable: true });
  }

  needsWholeGrid(launch: ExecutorLaunch): boolean {
    return this.tiers.first(launch).kernel.compiled.waitsForBlocks;
  }

  /** The kernels that it has compiled, to be taken over by another thread. */
  preparedKernels(): PreparedKernel[] {
    return this.kernels.prepared();
  }

  /** Makes code that another thread wants; undefined when this executor does not know the kernel. @throws CompileError. */
  prepare(wanted: WantedCode): PreparedKernel | undefined {
    return this.kernels.make(wanted);
  }

  /** Launches that have gone over several threads of the host. */
  get sharedLaunches(): number {
    return this.parallel?.shared ?? 0;
  }

  /** Ends the threads that help with large launches; launches that follow run on the caller's alone. */
  close(): void {
    this.parallel?.close();
  }

  private observe(launch: ExecutorLaunch, range: BlockRange, fuel: number, how: ObservedHow): RunResult {
    const journal = new RunJournal(launch.module.space);
    this.journal = journal;
    try {
      const blocks = { active: [], next: range.lo };
      const result = this.runKernel(launch, range, blocks, fuel, { observed: true }, how);
      journal.finish(this.area);
      return { ...result, journal };
    } finally {
      this.journal = undefined;
    }
  }

  private runKernel(
    launch: ExecutorLaunch,
    range: BlockRange,
    blocks: BlocksInFlight,
    fuel: number,
    form: CodeForm,
    { stopAt, tracesLoads = true }: ObservedHow = {},
  ): RunResult {
    const isFast = form.observed !== true && form.resumable !== true;
    let tier: Tier = isFast
      ? this.tiers.first(launch)
      : { kernel: this.kernels.get(launch.module.ir, launch.kernel, form), form, enough: undefined };
    for (const other of this.alsoIn) this.makeIn(launch, other);
    this.area.begin(launch, tier.kernel.compiled, fuel, range.lo);
    this.host.begin(launch, tier.kernel.compiled);
    if (stopAt !== undefined) this.area.setWide(RECORD.stopAt, stopAt);
    if (!tracesLoads) this.area.set(RECORD.tracesLoads, 0);
    try {
      let end = this.runTier(launch, tier, range, blocks, fuel);
      let counters = this.readTier(launch, tier, end.blocks);
      if (tier.enough !== undefined && end.kind === 'done' && end.blocks < range.hi - range.lo) {
        const before = end.blocks;
        const rest = { lo: range.lo + before, hi: range.hi };
        this.area.end();
        tier = this.tiers.last(launch);
        this.area.begin(launch, tier.kernel.compiled, fuel, range.lo);
        end = this.runTier(launch, tier, rest, { active: [], next: rest.lo }, fuel);
        counters = addCounters(counters, this.readTier(launch, tier, end.blocks));
      }
      const text = this.host.end();
      const outcome = { counters, ...(text === undefined ? {} : { printed: text }) };
      switch (end.kind) {
        case 'done':
          return { status: 'done', ...outcome };
        case 'fault':
          return { status: 'fault', ...outcome, fault: end.fault };
        case 'yield':
          return { status: 'yield', ...outcome, suspended: new SuspendedBlocks(launch, range, this, blocks) };
      }
    } finally {
      this.area.end();
    }
  }

  private makeIn({ module, kernel }: ExecutorLaunch, form: CodeForm): void {
    try {
      this.kernels.get(module.ir, kernel, form);
    } catch (error) {
      // Whoever wants it finds out.
      if (!(error instanceof CompileError)) throw error;
    }
  }

  /** Fewer blocks than the range's when the next tier is to go on. */
  private runTier(
    launch: ExecutorLaunch,
    tier: Tier,
    range: BlockRange,
    blocks: BlocksInFlight,
    fuel: number,
  ): TurnsEnd {
    const { kernel, form, enough } = tier;
    const isFast = form.observed !== true && form.resumable !== true;
    return this.parallel === undefined || !isFast || enough !== undefined
      ? this.runBlocks(launch, kernel, range, blocks, fuel, form.resumable === true, enough)
      : this.runParallel(this.parallel, launch, tier, range, fuel);
  }

  private readTier(launch: ExecutorLaunch, tier: Tier, blocks: number): ExecutionCounters {
    const counters = readCounters(this.area, tier.kernel.compiled, blocks);
    if (this.counts !== undefined) addInstructionCounts(this.area, tier.kernel.compiled, this.counts);
    this.tiers.count(tier, counters.threadInstructions);
    this.tiers.countUse(tier, launch, readUse(this.area, counters));
    return counters;
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

  private runParallel(
    parallel: ParallelLaunches,
    launch: ExecutorLaunch,
    { kernel, form }: Tier,
    range: BlockRange,
    fuel: number,
  ): TurnsEnd {
    const inOrder = (part: BlockRange): TurnsEnd =>
      this.runBlocks(launch, kernel, part, { active: [], next: part.lo }, fuel, false);
    const { kernels } = this;
    const { ir } = launch.module;
    const formed = (other: CodeForm): ReadyKernel => kernels.get(ir, launch.kernel, other);
    const prepared = (other: CodeForm): PreparedKernel | undefined =>
      kernels.preparedKernel(ir, launch.kernel, other);
    const isToCome = (other: CodeForm): boolean => kernels.isToCome(ir, launch.kernel, other);
    return parallel.run({ launch, fuel, kernel, form, inOrder, formed, isToCome, prepared }, range);
  }

  private runBlocks(
    launch: ExecutorLaunch,
    kernel: ReadyKernel,
    range: BlockRange,
    blocks: BlocksInFlight,
    fuel: number,
    yields: boolean,
    enough?: number,
  ): TurnsEnd {
    if (kernel.run !== undefined) return this.runApart(launch, kernel, kernel.run, range, enough);
    if (kernel.compiled.takesTurns)
      return new BlockTurns(this.area, launch, kernel, range, blocks, fuel, yields).run();
    return new BlocksInOrder(this.area, launch, kernel, range, enough).run();
  }

  /** Blocks whose threads never meet. */
  private runApart(
    launch: ExecutorLaunch,
    kernel: ReadyKernel,
    run: (lo: number, hi: number) => number,
    range: BlockRange,
    enough: number | undefined,
  ): TurnsEnd {
    const size = new CallSize(this.area, launch, kernel.compiled, range, enough);
    for (let lo = range.lo; lo < range.hi;) {
      const hi = Math.min(range.hi, lo + size.blocks);
      if (size.isSingle) this.area.beginBlock(launch, lo);
      if (run(lo, hi) === REGION_RESULT.fault) {
        const fault = readFault(this.area, launch);
        const [x, y] = launch.shape.grid;
        const blocks = fault.block[0] + x * (fault.block[1] + y * fault.block[2]) - range.lo;
        return { kind: 'fault', fault, blocks };
      }
      lo = hi;
      if (size.isEnough(lo)) return { kind: 'done', blocks: lo - range.lo };
    }
    return { kind: 'done', blocks: range.hi - range.lo };
  }
}

/** A run that has yielded, with all that its blocks hold. */
class SuspendedBlocks implements SuspendedRun {
  private isTaken = false;

  constructor(
    readonly launch: ExecutorLaunch,
    readonly range: BlockRange,
    readonly executor: WasmExecutor,
    private readonly blocks: BlocksInFlight,
  ) {}

  /** @throws ExecutorError when it has been taken before. */
  take(): BlocksInFlight {
    if (this.isTaken) {
      throw new ExecutorError(
        'invalidResume',
        `${this.launch.kernel.name}: the suspended run has been resumed before; resume what that run gave back`,
      );
    }
    this.isTaken = true;
    return this.blocks;
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
