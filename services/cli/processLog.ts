import { statSync } from 'node:fs';
import { pino, stdSerializers } from 'pino';
import { reasonOf } from '../../simulator/text/index.js';
import type { Complaint } from '../errors/index.js';
import { CommandError } from './commandError.js';

export interface LogOptions {
  readonly logLevel: string;
  readonly logFile?: string;
}

/** The log of a server or a node: JSON lines on standard error, or in a file. */
export interface ProcessLog {
  readonly complain: Complaint;
  readonly announce: Complaint;
  /** Opens the file anew: it was moved away. */
  readonly reopen: () => void;
}

/** Lines that a full disk holds up, in bytes; later ones are lost. */
const MOST_HELD_BYTES = 1024 * 1024;
/** How often it is told that lines are lost. */
const TOLD_EVERY_MS = 60_000;

/** @throws CommandError where the file cannot be opened */
export function openLog({ logLevel, logFile }: LogOptions): ProcessLog {
  const destination = opened(logFile);
  let toldMs = -Infinity;
  // A line that cannot be written is no reason to serve nobody: it is kept for the next try, as far as there is room.
  destination.on('error', (error: unknown) => {
    if (logFile === undefined || performance.now() - toldMs < TOLD_EVERY_MS) return;
    toldMs = performance.now();
    process.stderr.write(`windjammer: the log ${logFile} is not written at present: ${reasonOf(error)}\n`);
  });
  // Without them an error under another name than `err` would be written as {}.
  const serializers = { cause: stdSerializers.err, error: stdSerializers.err };
  const log = pino({ level: logLevel, base: null, serializers }, destination);
  return {
    complain: (message, details) => log.warn(details, message),
    announce: (message, details) => log.info(details, message),
    reopen: () => {
      if (logFile === undefined) return;
      try {
        checkPlain(logFile);
        destination.reopen();
      } catch (error) {
        // What was open goes on being written.
        process.stderr.write(`windjammer: the log is not opened anew: ${reasonOf(error)}\n`);
      }
    },
  };
}

/** Each line is written before the call returns: the last ones of a process that dies are those that are wanted. */
function opened(logFile: string | undefined): ReturnType<typeof pino.destination> {
  try {
    if (logFile !== undefined) checkPlain(logFile);
    return pino.destination({ dest: logFile ?? 2, sync: true, append: true, maxLength: MOST_HELD_BYTES });
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    throw new CommandError(`--log-file: ${reasonOf(cause)}; its folder must be there, and writable`, {
      cause,
    });
  }
}

/** A pipe would hold the server up until somebody reads it. @throws CommandError; Error of the file system */
export function checkPlain(logFile: string): void {
  if (logFile === '') throw new CommandError('--log-file is empty: name a file');
  const stat = statSync(logFile, { throwIfNoEntry: false });
  if (stat === undefined || stat.isFile() || stat.isCharacterDevice()) return;
  const is = stat.isDirectory() ? 'a folder' : 'no file that can be appended to';
  throw new CommandError(`--log-file: ${logFile} is ${is}: name a file, which need not be there yet`);
}
