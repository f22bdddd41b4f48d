import { existsSync } from 'node:fs';
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import type { IrModule } from '../../../ptx/index.js';
import type { Optimisation } from '../../compiler/index.js';
import type { ReadyKernel } from '../kernelCache.js';
import type { PreparedKernel } from '../preparedKernels.js';
import type { FromBlockWorker, ToBlockWorker, WorkerStart } from './workerMessages.js';

/** The worker is compiled JavaScript even when this side runs as TypeScript: Node itself loads it. */
function workerFile(): URL {
  const beside = new URL('blockWorker.js', import.meta.url);
  if (existsSync(beside)) return beside;
  const at = beside.href.lastIndexOf('/simulator/');
  return new URL(`${beside.href.slice(0, at)}/dist${beside.href.slice(at)}`);
}

/** Modules that one thread keeps. */
const MOST_MODULES = 256;

/** One thread of the pool, seen from the node's. */
export class PooledWorker {
  isGone = false;
  private readonly port: MessagePort;
  private readonly worker: Worker;
  private readonly modules = new WeakMap<IrModule, number>();
  private modulesSent = 0;
  private readonly code = new WeakSet<ReadyKernel>();

  constructor(start: Omit<WorkerStart, 'port'>, file: URL, onError: (error: Error) => void) {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    const workerData: WorkerStart = { ...start, port: port2 };
    this.worker = new Worker(file, {
      workerData,
      transferList: [port2],
      name: 'gpu blocks',
      execArgv: [],
    });
    // Idle threads keep no process.
    this.worker.unref();
    this.worker.on('error', (error) => {
      this.isGone = true;
      onError(error instanceof Error ? error : new Error(String(error)));
    });
    this.worker.on('exit', () => {
      this.isGone = true;
    });
  }

  /** Whether it holds so many modules that a fresh one is better: it forgets none. */
  get isWorn(): boolean {
    return this.modulesSent >= MOST_MODULES;
  }

  /** Sends a module unless it has been sent before; @returns its number. */
  moduleNumber(ir: IrModule): number {
    let id = this.modules.get(ir);
    if (id === undefined) {
      id = this.modulesSent++;
      this.modules.set(ir, id);
      this.post({ kind: 'module', id, ir });
    }
    return id;
  }

  /** Sends code unless it has been sent before. */
  send(kernel: ReadyKernel, prepared: PreparedKernel | undefined): void {
    if (this.code.has(kernel)) return;
    this.code.add(kernel);
    if (prepared !== undefined) this.post({ kind: 'code', kernel: prepared });
  }

  post(message: ToBlockWorker): void {
    this.port.postMessage(message);
  }

  /** What has come from the thread since. */
  receive(): FromBlockWorker[] {
    const found: FromBlockWorker[] = [];
    for (;;) {
      const next = receiveMessageOnPort(this.port);
      if (next === undefined) return found;
      found.push(next.message as FromBlockWorker);
    }
  }

  end(): void {
    this.isGone = true;
    this.port.close();
    void this.worker.terminate();
  }
}

export interface PoolOptions {
  /** Threads besides the node's own. */
  readonly workers: number;
  readonly without: ReadonlySet<Optimisation>;
  /** Code of the threads, for tests. */
  readonly file?: URL;
}

/** Threads that run blocks beside the node's own, started when they are first asked for. */
export class WorkerPool {
  private readonly workers: (PooledWorker | undefined)[] = [];
  private isClosed = false;

  constructor(
    private readonly memory: WebAssembly.Memory,
    private readonly options: PoolOptions,
    private readonly onError: (error: Error) => void,
  ) {}

  get isStarted(): boolean {
    return this.workers.length > 0;
  }

  /** The threads; those that are gone are made anew. */
  start(): PooledWorker[] {
    if (this.isClosed) return [];
    const { workers, without, file = workerFile() } = this.options;
    for (let worker = 0; worker < workers; worker++) {
      const known = this.workers[worker];
      if (known?.isGone === false && !known.isWorn) continue;
      known?.end();
      const start = { memory: this.memory, without: [...without] };
      this.workers[worker] = new PooledWorker(start, file, this.onError);
    }
    return this.workers.filter((worker) => worker !== undefined);
  }

  close(): void {
    this.isClosed = true;
    for (const worker of this.workers.splice(0)) worker?.end();
  }
}
