import { closeSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { DISK_FAULTS, StoreFault } from '../store.js';
import { DisplacedError } from './placeOfFiles.js';

type DiskFault = (typeof DISK_FAULTS)[number];

const CAUSES: Readonly<Record<string, DiskFault>> = {
  ENOSPC: 'diskFull',
  EDQUOT: 'quotaExceeded',
  EFBIG: 'fileTooLarge',
  EROFS: 'readOnly',
  EIO: 'ioError',
};

const SENTENCES: Readonly<Record<DiskFault, string>> = {
  diskFull: 'its disk is full',
  quotaExceeded: 'the quota of its disk is used up',
  fileTooLarge: 'a file would become larger than this process may make one',
  readOnly: 'its file system is read-only',
  ioError: 'its disk reports an input/output error',
  displaced: 'its files have been removed, moved or replaced: put them back, or start the server again',
  other: 'it cannot be written',
};

const TRIAL_BYTES = 262_144;

/**
 * Why a store could not be written: what the system says of a small file beside the store, and of the space that is left,
 * tells more than what LMDB says.
 * @param bytes about as many were to be written
 */
export function faultOf(directory: string, error: unknown, bytes: number): StoreFault {
  if (error instanceof DisplacedError) return fault(directory, 'displaced', error);
  return tried(directory, bytes) ?? fault(directory, causeOfError(error), error);
}

/** What would keep so many bytes from being written beside the store; undefined: nothing that shows. */
export function tried(directory: string, bytes: number): StoreFault | undefined {
  const cause = causeOfTrial(directory) ?? causeOfSpace(directory, bytes);
  return cause === undefined ? undefined : fault(directory, cause);
}

function fault(directory: string, cause: DiskFault, error?: unknown): StoreFault {
  const said = error instanceof Error ? ` (${error.message})` : '';
  const message = `the data directory ${directory} keeps nothing at present: ${SENTENCES[cause]}${said}`;
  return { cause, message };
}

/** LMDB says EIO also of a write of which the disk took a part only. */
function causeOfError(error: unknown): DiskFault {
  const { code } = error as { code?: unknown };
  // LMDB gives numbers.
  const byNumber: Readonly<Record<number, string>> = {
    5: 'EIO',
    27: 'EFBIG',
    28: 'ENOSPC',
    30: 'EROFS',
    122: 'EDQUOT',
  };
  return CAUSES[typeof code === 'number' ? (byNumber[code] ?? '') : String(code)] ?? 'other';
}

function causeOfTrial(directory: string): DiskFault | undefined {
  const path = join(directory, 'trial');
  try {
    const file = openSync(path, 'w');
    try {
      // The system takes what it has room for, and says at the next write why not more.
      const trial = Buffer.alloc(TRIAL_BYTES, 1);
      for (let written = 0; written < TRIAL_BYTES;) written += writeSync(file, trial, written);
      fsyncSync(file);
    } finally {
      closeSync(file);
      rmSync(path, { force: true });
    }
    return undefined;
  } catch (error) {
    return causeOfError(error);
  }
}

function causeOfSpace(directory: string, bytes: number): DiskFault | undefined {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize < bytes ? 'diskFull' : undefined;
  } catch {
    return undefined;
  }
}
