import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { packageRoot } from '../../simulator/files/index.js';
import { ServiceError, type ErrorCode } from '../errors/index.js';
import type { ModelRecord } from '../registry/index.js';
import { modelRecord } from './modelRegistration.js';
import { CONSTANT_CONTAINER, type AddModelRequest } from './schemas.js';

export interface RegistrationTask {
  readonly request: AddModelRequest;
  /** Names of the GPUs of which one is to hold it. */
  readonly cards: readonly string[];
}

export type RegistrationOutcome =
  | { readonly record: ModelRecord }
  | {
      readonly code: ErrorCode;
      readonly message: string;
      readonly field?: string;
      readonly cause: string;
    };

/** Compiled JavaScript, from the package's root: Node itself loads it, also where this side runs as TypeScript. */
const WORKER_FILE = 'dist/services/management/registrationWorker.js';

/** One slow disk does not hold up all others, and a flood of registrations takes no more memory than two. */
const inTurn = pLimit(2);

/**
 * `modelRecord` in a thread of its own, so that nobody's queries wait while a model's files are read: weights may have
 * gigabytes.
 * @throws ServiceError as `modelRecord` does (as a rejection)
 */
export async function modelRecordAside(
  request: AddModelRequest,
  cards: readonly string[],
): Promise<ModelRecord> {
  // It has no files.
  if (request.container_name === CONSTANT_CONTAINER) return modelRecord(request, cards);
  const outcome = await inTurn(() => inThread({ request, cards }));
  if ('record' in outcome) return outcome.record;
  const { code, message, field, cause } = outcome;
  throw new ServiceError(code, message, field, { cause });
}

function inThread(workerData: RegistrationTask): Promise<RegistrationOutcome> {
  const file = join(packageRoot(), WORKER_FILE);
  if (!existsSync(file)) throw new Error(`${file} is missing: run 'npm run build' first`);
  return new Promise((resolve, reject) => {
    const worker = new Worker(file, { workerData, name: 'registration' });
    worker.on('message', resolve);
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`the thread that reads the model ended with ${code}`)));
  });
}
