import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import { packageRoot } from '../../../simulator/files/index.js';

/** A node's end of a line to a shared thread. */
export interface SharedLine {
  readonly port: MessagePort;
  /** To be called when the node is gone. */
  release(): void;
}

/** A thread that all GPU nodes of the process share: there once somebody has connected, and kept alive by nobody. */
export class SharedThread {
  private thread: Worker | undefined;
  /** Whom to tell when the thread is gone. */
  private readonly connected = new Set<() => void>();

  /** @param workerFile compiled JavaScript, from the package's root: Node itself loads it, also where this side runs as TypeScript */
  constructor(
    private readonly workerFile: string,
    private readonly name: string,
  ) {}

  /** The thread, once a node has connected. */
  get worker(): Worker | undefined {
    return this.thread;
  }

  /**
   * @param connection what the thread is told of the node, which is sent with the port on which the node will speak
   * @param onGone called once when the thread has died: the port gives no more replies. The next that connects gets a new thread.
   */
  connect(connection: object, onGone: () => void): SharedLine {
    const { port1, port2 } = new MessageChannel();
    this.thread ??= this.start();
    this.thread.postMessage({ ...connection, port: port1 }, [port1]);
    this.connected.add(onGone);
    return { port: port2, release: () => this.connected.delete(onGone) };
  }

  private start(): Worker {
    const file = join(packageRoot(), this.workerFile);
    if (!existsSync(file)) throw new Error(`${file} is missing: run 'npm run build' first`);
    const worker = new Worker(file, { name: this.name });
    worker.unref();
    const forget = (): void => {
      if (this.thread !== worker) return;
      this.thread = undefined;
      const gone = [...this.connected];
      this.connected.clear();
      for (const tell of gone) tell();
    };
    worker.on('error', forget);
    worker.on('exit', forget);
    return worker;
  }
}
