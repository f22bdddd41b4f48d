import type { Command } from 'commander';
import type { ProcessSource } from '../../containers/runtime/index.js';
import type { AddModelFields } from '../management/index.js';
import { wholeNumber } from './optionValues.js';

/** What a model in a process may have. */
export interface ProcessOptions {
  readonly memoryMib?: number;
  readonly environment?: string;
  readonly startTimeoutMs?: number;
  readonly batchTimeoutMs?: number;
  readonly closeTimeoutMs?: number;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export function withProcessOptions(command: Command): Command {
  return command
    .option('--memory-mib <number>', 'of a process: what it may take', wholeNumber(16, 1_048_576))
    .option('--environment <names>', "of a process: the server's variables that it gets, with commas between")
    .option(
      '--start-timeout-ms <number>',
      'of a process: to load, 60000 unless given',
      wholeNumber(1, DAY_MS),
    )
    .option(
      '--batch-timeout-ms <number>',
      'of a process: for a batch, 30000 unless given',
      wholeNumber(1, DAY_MS),
    )
    .option(
      '--close-timeout-ms <number>',
      'of a process: to end, 2000 unless given',
      wholeNumber(1, MINUTE_MS),
    );
}

export function processFieldsOf(options: ProcessOptions): Partial<AddModelFields> {
  return {
    memory_mib: options.memoryMib,
    environment: options.environment?.split(','),
    start_timeout_ms: options.startTimeoutMs,
    batch_timeout_ms: options.batchTimeoutMs,
    close_timeout_ms: options.closeTimeoutMs,
  };
}

/** The same for a start here; the environment is the server's to give. */
export function processTrial(path: string, options: ProcessOptions): ProcessSource {
  const { memoryMib: memoryMiB, startTimeoutMs: startMs } = options;
  const environment = options.environment?.split(',').filter((name) => process.env[name] !== undefined);
  return {
    path,
    ...(memoryMiB === undefined ? {} : { memoryMiB }),
    ...(environment === undefined ? {} : { environment }),
    ...(startMs === undefined ? {} : { limits: { startMs } }),
  };
}
