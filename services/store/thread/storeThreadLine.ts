import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MessageChannel, Worker, receiveMessageOnPort } from 'node:worker_threads';
import { packageRoot } from '../../../simulator/files/index.js';
import { reasonOf } from '../../../simulator/text/index.js';
import { StoreError } from '../storeError.js';
import type { StoreContent } from './storeFiles.js';
import type { OpeningOutcome, StoreTask, StoreThreadData, TaskOutcome } from './messages.js';

/** Compiled JavaScript, from the package's root: Node itself loads it, also where this side runs as TypeScript. */
const WORKER_FILE = 'dist/services/store/thread/storeThread.js';

const LONGEST_OPENING_MS = 60_000;

export type TaskDone = (outcome: Omit<TaskOutcome, 'id'>) => void;
/** One that changes nothing. */
export type ReadingTask = Extract<TaskContent, { readonly kind: 'read' | 'slice' }>;

type TaskContent = StoreTask extends infer T ? (T extends unknown ? Omit<T, 'id'> : never) : never;

/** The caller's end of a line to the thread of a store's files. A thread that dies is replaced for the next task. */
export class StoreThreadLine {
  private worker: Worker | undefined;
  private readonly open = new Map<number, TaskDone>();
  private nextId = 1;

  constructor(
    private readonly directory: string,
    private readonly isReadOnly: boolean,
  ) {}

  /**
   * Opens the files, and waits for it.
   * @throws StoreError `unusable`, `schemaTooNew`
   */
  content(): StoreContent {
    const { port1, port2 } = new MessageChannel();
    const opened = new Int32Array(new SharedArrayBuffer(4));
    this.start(opened, port1);
    const waited = Atomics.wait(opened, 0, 0, LONGEST_OPENING_MS);
    const outcome = receiveMessageOnPort(port2)?.message as OpeningOutcome | undefined;
    port2.close();
    if (outcome !== undefined && 'entries' in outcome) return outcome;
    this.terminate();
    const { code, message } = outcome ?? {
      code: 'unusable',
      message: `its thread did not answer (${waited})`,
    };
    const text =
      code === 'unusable' ? `the store in ${this.directory} cannot be opened: ${message}` : message;
    throw new StoreError(code, text);
  }

  submit(task: TaskContent, done: TaskDone): void {
    const worker = (this.worker ??= this.startAgain());
    const id = this.nextId++;
    this.open.set(id, done);
    // Nothing of this keeps the process alive but a task under way.
    worker.ref();
    worker.postMessage({ ...task, id });
  }

  close(done: () => void): void {
    this.submit({ kind: 'close' }, () => {
      this.terminate();
      done();
    });
  }

  private terminate(): void {
    const { worker } = this;
    this.worker = undefined;
    void worker?.terminate();
  }

  private startAgain(): Worker {
    const { port1 } = new MessageChannel();
    return this.start(new Int32Array(new SharedArrayBuffer(4)), port1);
  }

  private start(opened: Int32Array, port: StoreThreadData['port']): Worker {
    const file = join(packageRoot(), WORKER_FILE);
    if (!existsSync(file)) throw new Error(`${file} is missing: run 'npm run build' first`);
    const { directory, isReadOnly } = this;
    const workerData: StoreThreadData = { directory, isReadOnly, opened, port };
    const worker = new Worker(file, { workerData, transferList: [port], name: 'store' });
    worker.unref();
    worker.on('message', ({ id, ...outcome }: TaskOutcome) => {
      const done = this.open.get(id);
      this.open.delete(id);
      if (this.open.size === 0) worker.unref();
      done?.(outcome);
    });
    let reason = 'its thread ended';
    worker.on('error', (error) => (reason = reasonOf(error)));
    worker.on('exit', () => this.onExit(worker, reason));
    this.worker = worker;
    return worker;
  }

  private onExit(worker: Worker, reason: string): void {
    if (this.worker !== worker) return;
    this.worker = undefined;
    const lost = [...this.open.values()];
    this.open.clear();
    const message = `the data directory ${this.directory} keeps nothing at present: ${reason}`;
    for (const done of lost) done({ fault: { cause: 'other', message } });
  }
}
