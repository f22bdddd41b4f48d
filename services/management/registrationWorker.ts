/** A thread in which the files of models that are to be registered are read, checked and hashed. */
import { parentPort } from 'node:worker_threads';
import { asServiceError } from '../errors/index.js';
import { modelRecord } from './modelRegistration.js';
import type { RegistrationOutcome, RegistrationTask } from './registrationThread.js';

function outcomeOf({ request, cards }: RegistrationTask): RegistrationOutcome {
  try {
    return { record: modelRecord(request, cards) };
  } catch (error) {
    const { code, message, field, cause } = asServiceError(error);
    return { code, message, ...(field === undefined ? {} : { field }), cause: String(cause) };
  }
}

const port = parentPort;
if (port === null) throw new Error('registrationWorker runs as a worker thread only');
port.on('message', (task: RegistrationTask) => port.postMessage(outcomeOf(task)));
