/** A worker thread that runs blocks of large launches (see ParallelLaunches). */
import { workerData } from 'node:worker_threads';
import type { IrModule } from '../../../ptx/index.js';
import { reasonOf } from '../../../text/index.js';
import { KernelCache, takeOver } from '../kernelCache.js';
import { LaunchArea } from '../launchArea.js';
import { BlockQueue, WORKER_STATE } from './blockQueue.js';
import { BlockShare } from './blockShare.js';
import { SharedMemory } from './sharedMemory.js';
import type { FromBlockWorker, ToBlockWorker, WorkerStart } from './workerMessages.js';

type Launch = Extract<ToBlockWorker, { kind: 'launch' }>;

class BlockWorker {
  private readonly memory: SharedMemory;
  private readonly modules = new Map<number, IrModule>();
  private cache: KernelCache | undefined;
  private share: BlockShare | undefined;
  private queue: BlockQueue | undefined;
  private helper = 0;

  constructor(private readonly start: WorkerStart) {
    this.memory = new SharedMemory(start.memory);
    start.port.on('message', (message: ToBlockWorker) => this.receive(message));
  }

  private receive(message: ToBlockWorker): void {
    switch (message.kind) {
      case 'module':
        this.modules.set(message.id, message.ir);
        return;
      case 'code':
        takeOver([message.kernel]);
        return;
      case 'launch':
        this.launch(message);
        return;
      case 'forget':
        this.share?.forgetFrom(message.block);
        this.queue?.enter(this.helper, WORKER_STATE.ended);
    }
  }

  private launch(launch: Launch): void {
    const queue = new BlockQueue(launch.blocks, launch.perTurn, launch.threads, launch.queue);
    this.queue = queue;
    this.helper = launch.helper;
    this.share = undefined;
    // The others have been faster than this message.
    if (queue.isOver && !launch.together) return;
    try {
      const ir = this.modules.get(launch.module);
      const fn = ir?.functions[launch.kernel];
      if (ir === undefined || fn === undefined) throw new RangeError('the kernel has not been sent');
      const kernel = this.cacheAt(launch.area).get(ir, fn, launch.form);
      queue.enter(launch.helper, WORKER_STATE.running);
      // Only now: a launch waits for whoever runs, and so the area is still this worker's.
      const taken = queue.take();
      if (taken !== undefined) {
        const area = new LaunchArea(this.memory, launch.area);
        const running = { kernel: fn, shape: launch.shape, module: { ir } };
        this.share = new BlockShare(area, running, kernel, queue, launch.firstBlock);
        this.share.run(taken);
        if (this.share.fault !== undefined) this.send({ kind: 'fault', fault: this.share.fault });
      }
      queue.enter(launch.helper, WORKER_STATE.ended);
    } catch (error) {
      this.send({ kind: 'failed', reason: reasonOf(error) });
      const hasBegun = queue.state(launch.helper) === WORKER_STATE.running;
      queue.enter(launch.helper, hasBegun ? WORKER_STATE.failed : WORKER_STATE.unable);
    }
  }

  /** Instances are told where their area is, so they go when it moves; compiled modules stay. */
  private cacheAt(area: number): KernelCache {
    if (this.cache?.area !== area) {
      const noHost = {};
      const noJournal = (): void => undefined;
      const without = new Set(this.start.without);
      this.cache = new KernelCache({ memory: this.start.memory }, noJournal, noHost, without, { area });
    }
    return this.cache;
  }

  private send(message: FromBlockWorker): void {
    this.start.port.postMessage(message);
  }
}

new BlockWorker(workerData as WorkerStart);
