import {
  CLASS_COUNTERS,
  COUNTER_BYTES,
  DYNAMIC_BYTES,
  RECORD,
  type CodeForm,
  type CompiledKernel,
} from '../../compiler/index.js';
import type { BlockRange, ExecutorLaunch, KernelFault } from '../../types.js';
import type { TurnsEnd } from '../blockTurns.js';
import { ExecutorError } from '../executorError.js';
import type { ReadyKernel } from '../kernelCache.js';
import type { LaunchArea } from '../launchArea.js';
import { BlockQueue, WORKER_STATE } from './blockQueue.js';
import { BlockShare } from './blockShare.js';
import type { PooledWorker } from './workerPool.js';

/** A thread of the pool with the area that it has for one launch. */
export interface Helper {
  readonly worker: PooledWorker;
  readonly area: LaunchArea;
}

/** How long to wait for a thread to begin, where none begins before all are there. */
const START_MS = 20_000;

export interface SharedLaunchOptions {
  readonly form: CodeForm;
  /** Most blocks that a thread takes at once. */
  readonly perTurn: number;
  /** How long to wait for a thread's last blocks once everything else has been done. */
  readonly patienceMs: number;
  /** Whether no thread begins before all are there. */
  readonly together: boolean;
  /** A thread is lost that had taken no blocks. */
  readonly onUnable: (reason: string) => void;
}

/** Blocks of one launch on the node's thread and on others: from the call to what all have done together. */
export class SharedLaunch {
  private readonly queue: BlockQueue;
  private readonly own: BlockShare;
  private readonly blocks: number;
  private readonly faults: KernelFault[] = [];

  /** @param area the node's own, where the launch has been begun, as in those of the helpers. */
  constructor(
    private readonly launch: ExecutorLaunch,
    private readonly kernel: ReadyKernel,
    private readonly range: BlockRange,
    private readonly area: LaunchArea,
    private readonly helpers: readonly Helper[],
    private readonly options: SharedLaunchOptions,
  ) {
    this.blocks = range.hi - range.lo;
    this.queue = new BlockQueue(this.blocks, options.perTurn, helpers.length + 1);
    this.own = new BlockShare(area, launch, kernel, this.queue, range.lo);
  }

  /** @throws ExecutorError `threadLost` when a thread is lost with blocks that it had taken. */
  run(): TurnsEnd {
    const { queue, own, blocks } = this;
    this.call();
    try {
      own.run();
    } catch (error) {
      queue.stopAt(-1);
      this.awaitAll();
      throw error;
    }
    this.awaitAll();
    this.collect();
    if (own.fault !== undefined) this.faults.push(own.fault);
    const stop = queue.stoppedAt;
    if (stop < blocks) this.forgetFrom(stop);
    for (const helper of this.ended()) this.addCounters(helper.area, this.kernel.compiled);
    if (stop === blocks) return { kind: 'done', blocks };
    const fault = this.faults.find((each) => this.indexOf(each) === stop + this.range.lo);
    if (fault === undefined) throw new RangeError(`${this.launch.kernel.name}: a fault is missing`);
    return { kind: 'fault', fault, blocks: stop };
  }

  /** Whether a thread may still be running blocks in its area. */
  isRunning(helper: number): boolean {
    return this.queue.state(helper) === WORKER_STATE.running;
  }

  private call(): void {
    const { launch, helpers, options, queue, blocks, range } = this;
    const { ir } = launch.module;
    for (const [index, { worker, area }] of helpers.entries()) {
      worker.post({
        kind: 'launch',
        helper: index,
        module: worker.moduleNumber(ir),
        kernel: ir.functions.indexOf(launch.kernel),
        form: options.form,
        shape: launch.shape,
        area: area.base,
        queue: queue.buffer,
        blocks,
        perTurn: options.perTurn,
        threads: helpers.length + 1,
        firstBlock: range.lo,
        together: options.together,
      });
    }
    if (!options.together) return;
    for (const index of helpers.keys()) queue.wait(index, WORKER_STATE.called, START_MS);
  }

  private awaitAll(): void {
    for (const [index, { worker }] of this.helpers.entries()) {
      if (this.queue.wait(index, WORKER_STATE.running, this.options.patienceMs)) continue;
      worker.end();
      throw this.lost(`it has not ended its blocks after ${this.options.patienceMs / 1000} s`);
    }
  }

  /** What the threads have to say. */
  private collect(): void {
    for (const [index, { worker }] of this.helpers.entries()) {
      for (const message of worker.receive()) {
        if (message.kind === 'fault') this.faults.push(message.fault);
        else {
          worker.end();
          if (this.queue.state(index) === WORKER_STATE.failed) throw this.lost(message.reason);
          this.options.onUnable(message.reason);
        }
      }
    }
  }

  private forgetFrom(stop: number): void {
    this.own.forgetFrom(stop);
    for (const helper of this.ended()) {
      const index = this.helpers.indexOf(helper);
      this.queue.enter(index, WORKER_STATE.running);
      helper.worker.post({ kind: 'forget', block: stop });
    }
    this.awaitAll();
  }

  private ended(): Helper[] {
    return this.helpers.filter((_, index) => this.queue.state(index) === WORKER_STATE.ended);
  }

  private addCounters(from: LaunchArea, compiled: CompiledKernel): void {
    const places = [
      ...Object.values(DYNAMIC_BYTES),
      RECORD.instructionsApart,
      RECORD.instructionsIdle,
    ] as number[];
    for (let index = 0; index < compiled.counters.length * 2; index++)
      places.push(CLASS_COUNTERS + (index * COUNTER_BYTES) / 2);
    for (const at of places) this.area.setWide(at, this.area.wide(at) + from.wide(at));
  }

  private indexOf({ block }: KernelFault): number {
    const [x, y] = this.launch.shape.grid;
    return block[0] + x * (block[1] + y * block[2]);
  }

  private lost(reason: string): ExecutorError {
    return new ExecutorError(
      'threadLost',
      `${this.launch.kernel.name}: a host thread that ran blocks of the launch is lost: ${reason}; what the launch has ` +
        'written is open, so start again from fresh memory, with one thread if it happens again',
    );
  }
}
