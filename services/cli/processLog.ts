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
        destination.reopen();
      } catch {
        // Told by the listener; what was open goes on being written.
      }
    },
  };
}

/** Each line is written before the call returns: the last ones of a process that dies are those that are wanted. */
function opened(logFile: string | undefined): ReturnType<typeof pino.destination> {
  try {
    return pino.destination({ dest: logFile ?? 2, sync: true, append: true, maxLength: MOST_HELD_BYTES });
  } catch (cause) {
    throw new CommandError(`--log-file: ${reasonOf(cause)}; its folder must be there, and writable`, {
      cause,
    });
  }
}
