import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { packageRoot } from '../../simulator/files/index.js';
import { ServiceError, type ErrorCode } from '../errors/index.js';
import type { ModelRecord } from '../registry/index.js';
import { modelRecord } from './modelRegistration.js';
import { KERNEL_MODEL_CONTAINER, PROCESS_CONTAINER, type AddModelRequest } from './schemas.js';

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

const HAVE_FILES: ReadonlySet<string> = new Set([KERNEL_MODEL_CONTAINER, PROCESS_CONTAINER]);

/** One slow disk does not hold up all others, and a flood of registrations takes no more memory than two. */
const inTurn = pLimit(2);

/**
 * `modelRecord` in another thread, so that nobody's queries wait while a model's files are read: weights may have
 * gigabytes.
 * @throws ServiceError as `modelRecord` does (as a rejection)
 */
export async function modelRecordAside(
  request: AddModelRequest,
  cards: readonly string[],
): Promise<ModelRecord> {
  if (!HAVE_FILES.has(request.container_name)) return modelRecord(request, cards);
  const outcome = await inTurn(() => inThread({ request, cards }));
  if ('record' in outcome) return outcome.record;
  const { code, message, field, cause } = outcome;
  throw new ServiceError(code, message, field, { cause });
}

/** Loading what reads models takes a second, which nobody waits for who registers several in a row. */
const IDLE_MS = 10_000;

interface IdleThread {
  readonly worker: Worker;
  readonly end: NodeJS.Timeout;
}

const idle: IdleThread[] = [];

async function inThread(task: RegistrationTask): Promise<RegistrationOutcome> {
  const worker = takeIdle() ?? startThread();
  const outcome = await answerOf(worker, task);
  worker.unref();
  const end = setTimeout(() => void takeIdle(worker)?.terminate(), IDLE_MS);
  end.unref();
  idle.push({ worker, end });
  return outcome;
}

/** One that is idle, the one that is asked for if any is, is so no more. */
function takeIdle(which = idle.at(-1)?.worker): Worker | undefined {
  const at = idle.findIndex(({ worker }) => worker === which);
  if (at < 0) return undefined;
  const [{ worker, end }] = idle.splice(at, 1);
  clearTimeout(end);
  worker.ref();
  return worker;
}

function startThread(): Worker {
  const file = join(packageRoot(), WORKER_FILE);
  if (!existsSync(file)) throw new Error(`${file} is missing: run 'npm run build' first`);
  const worker = new Worker(file, { name: 'registration' });
  const forget = (): void => void takeIdle(worker);
  worker.on('error', forget);
  worker.on('exit', forget);
  return worker;
}

/** A thread that dies over a task is not asked again. */
function answerOf(worker: Worker, task: RegistrationTask): Promise<RegistrationOutcome> {
  return new Promise((resolve, reject) => {
    const settled = <T>(settle: (value: T) => void) => {
      return (value: T): void => {
        worker.off('message', answered).off('error', failed).off('exit', ended);
        settle(value);
      };
    };
    const answered = settled(resolve);
    const failed = settled(reject);
    const ended = settled((code: number) =>
      reject(new Error(`the thread that reads the model ended with ${code}`)),
    );
    worker.on('message', answered).on('error', failed).on('exit', ended);
    worker.postMessage(task);
  });
}
