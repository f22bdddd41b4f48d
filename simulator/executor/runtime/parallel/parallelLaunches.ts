import type { IrFunction } from '../../../ptx/index.js';
import {
  AREA,
  blockIndependence,
  type BlockIndependence,
  type CodeForm,
  type CompiledKernel,
  type Optimisation,
} from '../../compiler/index.js';
import { MemoryError, type NodeMemory } from '../../memory/index.js';
import type { BlockRange, ExecutorLaunch } from '../../types.js';
import type { TurnsEnd } from '../blockTurns.js';
import { readThreadInstructions } from '../counters.js';
import type { ReadyKernel } from '../kernelCache.js';
import { LaunchArea } from '../launchArea.js';
import type { PreparedKernel } from '../preparedKernels.js';
import { SharedLaunch, type Helper } from './sharedLaunch.js';
import { sharesMemory } from './sharedSegments.js';
import { WorkerPool } from './workerPool.js';

/** Thread-instructions by which a kernel's blocks are measured before they are handed out. */
const SAMPLE = 1_000_000;
/** What must be left to do for other threads to be called; more when they or the code have yet to be made. */
const WORTH_CALLING = 4_000_000;
const WORTH_STARTING = 30_000_000;
/** Thread-instructions that a thread takes at once. */
const PER_TURN = 1_000_000;
/** Fuel ends any block long before. */
const PATIENCE_MS = 300_000;
/** All that a helper needs besides contexts that are larger than usual. */
const AREA_BYTES = AREA.contextsEnd;

export interface ParallelOptions {
  /** Threads besides the node's own. */
  readonly workers: number;
  readonly without: ReadonlySet<Optimisation>;
  /** How long to wait for a thread's last blocks once everything else has been done. */
  readonly patienceMs?: number;
  /** For tests: launches of any size are shared, block by block, and none begins before all threads are there. */
  readonly eager?: boolean;
  /** For tests: the threads' code. */
  readonly file?: URL;
}

/** What the executor does for a launch. */
export interface LaunchParts {
  readonly launch: ExecutorLaunch;
  readonly fuel: number;
  readonly kernel: ReadyKernel;
  /** Runs blocks on the node's own thread. */
  readonly inOrder: (range: BlockRange) => TurnsEnd;
  /** The form of `kernel`. */
  readonly form: CodeForm;
  /** The kernel in another form. */
  readonly formed: (form: CodeForm) => ReadyKernel;
  /** Whether another thread makes that form. */
  readonly isToCome: (form: CodeForm) => boolean;
  /** Its code for other threads. */
  readonly prepared: (form: CodeForm) => PreparedKernel | undefined;
}

/**
 * Runs large launches on several threads of the host, where that leaves what running their blocks in order leaves. The
 * node's thread runs blocks itself and then waits for the others, so that a launch takes place inside one call.
 */
export class ParallelLaunches {
  private readonly pool: WorkerPool;
  private readonly independence = new WeakMap<IrFunction, BlockIndependence>();
  /** Thread-instructions of a block, when it last ran. */
  private readonly costs = new WeakMap<IrFunction, number>();
  /** Kernels whose threaded form there is. */
  private readonly threaded = new WeakSet<IrFunction>();
  private reasonToStop: string | undefined;
  /** Launches that have gone over several threads. */
  shared = 0;

  /** @param area the first area, where launches are begun before they come here. */
  constructor(
    private readonly memory: NodeMemory,
    private readonly area: LaunchArea,
    private readonly options: ParallelOptions,
  ) {
    this.pool = new WorkerPool(memory.memory, options, (error) => this.stop(error.message));
  }

  /** Why no more launches are shared, when threads could not run. */
  get trouble(): string | undefined {
    return this.reasonToStop;
  }

  /** @throws ExecutorError `threadLost` when a thread is lost with blocks that it had taken. */
  run(parts: LaunchParts, range: BlockRange): TurnsEnd {
    const { launch, kernel } = parts;
    if (this.reasonToStop !== undefined || !this.mayShare(launch, kernel.compiled))
      return parts.inOrder(range);
    const first = this.sample(parts, range);
    if (first.kind !== 'done' || first.blocks === range.hi - range.lo) return first;
    const rest = this.runRest(parts, { lo: range.lo + first.blocks, hi: range.hi });
    const blocks = first.blocks + rest.blocks;
    if (blocks > 0)
      this.costs.set(launch.kernel, readThreadInstructions(this.area, kernel.compiled) / blocks);
    return { ...rest, blocks };
  }

  /** Ends the threads. */
  close(): void {
    this.reasonToStop ??= 'closed';
    this.pool.close();
  }

  private stop(reason: string): void {
    if (this.reasonToStop !== undefined) return;
    this.reasonToStop = reason;
    process.emitWarning(`launches go on with one thread: ${reason}`, { code: 'WINDJAMMER_THREAD_LOST' });
    this.pool.close();
  }

  private mayShare(launch: ExecutorLaunch, compiled: CompiledKernel): boolean {
    const { kernel, module } = launch;
    if (launch.cooperative === true || compiled.takesTurns || !module.ir.functions.includes(kernel))
      return false;
    let found = this.independence.get(kernel);
    if (found === undefined) {
      found = blockIndependence(kernel);
      this.independence.set(kernel, found);
    }
    return found.refusal === undefined && !sharesMemory(launch, found);
  }

  /** Runs the first blocks of a kernel whose cost is not known. */
  private sample({ launch, kernel, inOrder }: LaunchParts, range: BlockRange): TurnsEnd {
    let blocks = 0;
    if (this.costs.has(launch.kernel)) return { kind: 'done', blocks };
    for (let count = 1; range.lo + blocks < range.hi; count *= 4) {
      const lo = range.lo + blocks;
      const end = inOrder({ lo, hi: Math.min(range.hi, lo + count) });
      blocks += end.blocks;
      if (end.kind !== 'done') return { ...end, blocks };
      const spent = readThreadInstructions(this.area, kernel.compiled);
      this.costs.set(launch.kernel, spent / blocks);
      if (spent >= SAMPLE || this.options.eager === true) break;
    }
    return { kind: 'done', blocks };
  }

  private runRest(parts: LaunchParts, range: BlockRange): TurnsEnd {
    const { launch } = parts;
    const { eager = false, patienceMs = PATIENCE_MS } = this.options;
    const cost = Math.max(1, this.costs.get(launch.kernel) ?? 1);
    const blocks = range.hi - range.lo;
    const isReady = this.pool.isStarted && this.threaded.has(launch.kernel);
    const isWorth = eager || cost * blocks >= (isReady ? WORTH_CALLING : WORTH_STARTING);
    if (blocks < 2 || !isWorth) return parts.inOrder(range);
    const form = { ...parts.form, threaded: true };
    if (parts.isToCome(form)) return parts.inOrder(range);
    const kernel = parts.formed(form);
    this.threaded.add(launch.kernel);
    const helpers = this.helpers(parts, kernel);
    if (helpers.length === 0) return parts.inOrder(range);
    const prepared = parts.prepared(form);
    for (const { worker } of helpers) worker.send(kernel, prepared);
    const shared = new SharedLaunch(launch, kernel, range, this.area, helpers, {
      form,
      perTurn: eager ? 1 : Math.max(1, Math.floor(PER_TURN / cost)),
      patienceMs,
      together: eager,
      onUnable: (reason) => this.stop(reason),
    });
    this.shared += 1;
    try {
      return shared.run();
    } finally {
      for (const [index, { area }] of helpers.entries()) if (!shared.isRunning(index)) this.release(area);
    }
  }

  /** The workers that there is memory for. */
  private helpers({ launch, fuel }: LaunchParts, { compiled }: ReadyKernel): Helper[] {
    const helpers: Helper[] = [];
    for (const worker of this.pool.start()) {
      let area: LaunchArea | undefined;
      try {
        area = new LaunchArea(this.memory, this.memory.allocate(AREA_BYTES, 64));
        area.begin(launch, compiled, fuel, 0);
        helpers.push({ worker, area });
      } catch (error) {
        if (area !== undefined) this.release(area);
        if (!(error instanceof MemoryError)) throw error;
        break;
      }
    }
    return helpers;
  }

  private release(area: LaunchArea): void {
    area.end();
    this.memory.release(area.base);
  }
}
