import type { Worker } from 'node:worker_threads';
import type { LoaderConnection } from './loaderMessages.js';
import { SharedThread, type SharedLine } from './sharedThread.js';

const loader = new SharedThread('dist/containers/runtime/thread/modelLoaderWorker.js', 'model loader');

/**
 * A port on which a GPU node asks for models to be loaded: read, checked, compiled and tried in a thread that all nodes of
 * the process share, so that those that serve meanwhile are not held up.
 * @param onGone called once when that thread has died
 */
export function connectToLoader(gpus: readonly string[], onGone: () => void): SharedLine {
  return loader.connect({ gpus } satisfies Omit<LoaderConnection, 'port'>, onGone);
}

/** The thread, once a node has connected. */
export function loaderThread(): Worker | undefined {
  return loader.worker;
}
