import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import { packageRoot } from '../../models/index.js';
import type { LoaderConnection } from './loaderMessages.js';

/** The worker is compiled JavaScript even when this side runs as TypeScript: Node itself loads it. */
const WORKER_FILE = 'dist/containers/runtime/thread/modelLoaderWorker.js';

let thread: Worker | undefined;
/** Whom to tell when the thread is gone. */
const connected = new Set<() => void>();

export interface LoaderLine {
  readonly port: MessagePort;
  release(): void;
}

/**
 * A port on which a GPU node asks for models to be loaded: read, checked, compiled and tried in a thread that all nodes of
 * the process share, so that those that serve meanwhile are not held up. The thread keeps no process alive.
 * @param onGone called once when that thread has died: the port gives no more replies. The next that connects gets a new
 * thread.
 * @returns the port, and what to call when the node is gone
 */
export function connectToLoader(gpus: readonly string[], onGone: () => void): LoaderLine {
  const { port1, port2 } = new MessageChannel();
  thread ??= start();
  const connection: LoaderConnection = { port: port1, gpus };
  thread.postMessage(connection, [port1]);
  connected.add(onGone);
  return { port: port2, release: () => connected.delete(onGone) };
}

/** The thread, once a node has connected. */
export function loaderThread(): Worker | undefined {
  return thread;
}

function start(): Worker {
  const file = join(packageRoot(), WORKER_FILE);
  if (!existsSync(file)) throw new Error(`${file} is missing: run 'npm run build' first`);
  const worker = new Worker(file, { name: 'model loader' });
  worker.unref();
  const forget = (): void => {
    if (thread !== worker) return;
    thread = undefined;
    const gone = [...connected];
    connected.clear();
    for (const tell of gone) tell();
  };
  worker.on('error', forget);
  worker.on('exit', forget);
  return worker;
}
