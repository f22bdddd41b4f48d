/** The thread in which the files of a model that is to be registered are read, checked and hashed. */
import { parentPort, workerData } from 'node:worker_threads';
import { asServiceError } from '../errors/index.js';
import { modelRecord } from './modelRegistration.js';
import type { RegistrationOutcome, RegistrationTask } from './registrationThread.js';

const { request, cards } = workerData as RegistrationTask;

function outcome(): RegistrationOutcome {
  try {
    return { record: modelRecord(request, cards) };
  } catch (error) {
    const { code, message, field, cause } = asServiceError(error);
    return { code, message, ...(field === undefined ? {} : { field }), cause: String(cause) };
  }
}

if (parentPort === null) throw new Error('registrationWorker runs as a worker thread only');
parentPort.postMessage(outcome());
