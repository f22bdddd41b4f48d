import type { Worker } from 'node:worker_threads';
import type { AnalystConnection } from './analystMessages.js';
import { SOLVER_PACKAGE } from '../../proving/index.js';
import { SharedThread, type SharedLine } from './sharedThread.js';

const analyst = new SharedThread('dist/containers/runtime/thread/kernelAnalystWorker.js', 'kernel analyst');

/**
 * A port on which a GPU node asks for kernels to be analysed: one after the other, in a thread that all nodes of the process share,
 * since one kernel may take seconds. Where z3 is installed it is asked what analysis has left open, and a second answer comes.
 * @param cacheDirectory where analyses are kept for the next start; undefined: nowhere
 * @param onGone called once when that thread has died
 * @param solverPackage where z3 is looked for
 */
export function connectToAnalyst(
  cacheDirectory: string | undefined,
  onGone: () => void,
  solverPackage = SOLVER_PACKAGE,
): SharedLine {
  const connection: Omit<AnalystConnection, 'port'> = { cacheDirectory, solverPackage };
  return analyst.connect(connection, onGone);
}

/** The thread, once a node has connected. */
export function analystThread(): Worker | undefined {
  return analyst.worker;
}
