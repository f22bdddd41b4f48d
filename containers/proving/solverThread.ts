import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { SolverFact, SolverQuery } from '../../simulator/idempotency/index.js';
import { packageRoot } from '../../simulator/files/index.js';
import type { Solver } from './solver.js';

/** Compiled JavaScript: Node itself loads it, also where this side runs as TypeScript. */
const WORKER_FILE = 'dist/containers/proving/solverWorker.js';

/** A question is limited by what it takes z3, not by time; this is for a thread that never answers. */
const LONGEST_ANSWER_MS = 120_000;

/** The thread is gone without an answer: it broke, or was too slow. */
export class SolverLost extends Error {}

/** From the thread. */
export type SolverReply =
  { readonly kind: 'fact'; readonly fact: SolverFact } | { readonly kind: 'failed'; readonly reason: string };

/**
 * z3 in a thread of its own, which begins with the first question: ending it is what gives back z3's memory (about 100 MB). One
 * question at a time.
 */
export class SolverThread implements Solver {
  private worker: Worker | undefined;

  constructor(private readonly longestMs = LONGEST_ANSWER_MS) {}

  /** @throws SolverLost (as a rejection); the next question begins another thread */
  range(query: SolverQuery): Promise<SolverFact> {
    const worker = (this.worker ??= start());
    return new Promise((resolve, reject) => {
      const lost = (reason: string): void => {
        done();
        this.close();
        reject(new SolverLost(`the solver's thread: ${reason}`));
      };
      const onMessage = (reply: SolverReply): void => {
        if (reply.kind === 'failed') lost(reply.reason);
        else {
          done();
          resolve(reply.fact);
        }
      };
      const onError = (error: Error): void => lost(error.message);
      const onExit = (code: number): void => lost(`exit code ${code}`);
      const timer = setTimeout(() => lost(`no answer within ${this.longestMs} ms`), this.longestMs);
      const done = (): void => {
        clearTimeout(timer);
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      };
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      worker.postMessage(query);
    });
  }

  /** Ends the thread. */
  close(): void {
    const { worker } = this;
    this.worker = undefined;
    // What it may still say while it ends is nobody's.
    worker?.on('error', () => undefined);
    void worker?.terminate();
  }
}

function start(): Worker {
  const file = join(packageRoot(), WORKER_FILE);
  if (!existsSync(file)) throw new SolverLost(`${file} is missing: run 'npm run build' first`);
  return new Worker(file, { name: 'kernel solver' });
}
