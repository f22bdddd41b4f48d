/** The thread in which z3 runs (see solverThread.ts). */
import { parentPort } from 'node:worker_threads';
import type { SolverQuery } from '../../simulator/idempotency/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { giveWay } from './backgroundThread.js';
import type { SolverReply } from './solverThread.js';
import { Z3Solver } from './z3Solver.js';

const port = parentPort;
if (port === null) throw new Error('solverWorker runs as a worker thread only');
giveWay();
const solver = new Z3Solver();
port.on('message', (query: SolverQuery) => {
  const reply = (message: SolverReply): void => port.postMessage(message);
  solver.range(query).then(
    (fact) => reply({ kind: 'fact', fact }),
    (error: unknown) => reply({ kind: 'failed', reason: reasonOf(error) }),
  );
});
