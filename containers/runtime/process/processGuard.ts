import { workerData } from 'node:worker_threads';
import { startGuard, type GuardLimits } from './memoryGuard.js';

/** A thread of a model's process, which looks after it while the model keeps the event loop busy. */
startGuard(workerData as GuardLimits);
