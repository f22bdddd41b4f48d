import type { Worker } from 'node:worker_threads';
import type { AnalystConnection } from './analystMessages.js';
import { SharedThread, type SharedLine } from './sharedThread.js';

const analyst = new SharedThread('dist/containers/runtime/thread/kernelAnalystWorker.js', 'kernel analyst');

/**
 * A port on which a GPU node asks for kernels to be analysed: one after the other, in a thread that all nodes of the process share,
 * since one kernel may take seconds.
 * @param cacheDirectory where analyses are kept for the next start; undefined: nowhere
 * @param onGone called once when that thread has died
 */
export function connectToAnalyst(cacheDirectory: string | undefined, onGone: () => void): SharedLine {
  return analyst.connect({ cacheDirectory } satisfies Omit<AnalystConnection, 'port'>, onGone);
}

/** The thread, once a node has connected. */
export function analystThread(): Worker | undefined {
  return analyst.worker;
}
