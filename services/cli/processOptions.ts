import { extname, resolve } from 'node:path';
import type { Command } from 'commander';
import type { OwnProcessSource } from '../../containers/runtime/index.js';
import type { AddModelFields } from '../management/index.js';
import { wholeNumber } from './optionValues.js';

/** What a model in a process may have. */
export interface ProcessOptions {
  readonly python?: string;
  readonly command?: string;
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
    .option(
      '--python <interpreter>',
      'of a module in Python: what runs it, python3 unless given',
      interpreter,
    )
    .option('--command <text>', 'of a program: what starts it in its folder, by /bin/sh -c')
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
    python: options.python,
    command: options.command,
    memory_mib: options.memoryMib,
    environment: options.environment?.split(','),
    start_timeout_ms: options.startTimeoutMs,
    batch_timeout_ms: options.batchTimeoutMs,
    close_timeout_ms: options.closeTimeoutMs,
  };
}

/** A file's name with a slash is one from here; the server runs elsewhere. */
function interpreter(given: string): string {
  return given.includes('/') ? resolve(given) : given;
}

/**
 * The same for a start here; the environment is the server's to give.
 * @param path of a module, or of the folder that a command runs in
 */
export function processTrial(path: string, options: ProcessOptions): OwnProcessSource {
  const { memoryMib: memoryMiB, startTimeoutMs: startMs, python, command } = options;
  const environment = options.environment?.split(',').filter((name) => process.env[name] !== undefined);
  const common = {
    path,
    ...(memoryMiB === undefined ? {} : { memoryMiB }),
    ...(environment === undefined ? {} : { environment }),
    ...(startMs === undefined ? {} : { limits: { startMs } }),
  };
  if (command !== undefined) return { kind: 'exec', ...common, command };
  if (extname(path) !== '.py') return { kind: 'process', ...common };
  return { kind: 'python', ...common, ...(python === undefined ? {} : { python }) };
}
