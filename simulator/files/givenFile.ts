import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';

const MIB = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** Which files are taken. */
export interface FileLimits {
  readonly mostBytes: number;
  /** Whoever gives the file waits for it: what a pipe or a terminal gives is taken, too. */
  readonly takesPipes?: true;
}

/** Of what a process is started with: secrets, certificates, configuration. */
export const START_FILE: FileLimits = { mostBytes: MIB };

/** Of what a command is given to work on. A longer text is none that JavaScript can hold. */
export const WORK_FILE: FileLimits = { mostBytes: 512 * MIB, takesPipes: true };

/**
 * All bytes of a file that somebody has named; never waits for a pipe that nobody writes, nor reads on without end.
 * @throws Error that names the file, with what is wrong with it
 */
export function readGivenFile(path: string, { mostBytes, takesPipes }: FileLimits): Buffer {
  const file = openSync(path, constants.O_RDONLY | (takesPipes ? 0 : constants.O_NONBLOCK));
  try {
    const status = fstatSync(file);
    if (status.isDirectory()) {
      throw Object.assign(new Error(`EISDIR: ${path} is a folder, and a file is needed`), { code: 'EISDIR' });
    }
    if (!status.isFile() && !takesPipes) throw new Error(notRegular(path, status));
    const pieces: Buffer[] = [];
    let bytes = 0;
    for (;;) {
      const piece = Buffer.allocUnsafe(CHUNK_BYTES);
      const count = readSync(file, piece, 0, CHUNK_BYTES, null);
      if (count === 0) return Buffer.concat(pieces, bytes);
      bytes += count;
      if (bytes > mostBytes) {
        throw new Error(
          `${path} is larger than ${mostBytes / MIB} MiB, the most that is read: is it another file?`,
        );
      }
      pieces.push(piece.subarray(0, count));
    }
  } finally {
    closeSync(file);
  }
}

/** @throws Error where it is no regular file */
export function requireRegularFile(path: string): void {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const status = fstatSync(file);
    if (!status.isFile()) throw new Error(notRegular(path, status));
  } finally {
    closeSync(file);
  }
}

function notRegular(path: string, status: Stats): string {
  return `${path} is ${kindOf(status)}, and a regular file is needed: write its content to one, and name that`;
}

function kindOf(status: Stats): string {
  if (status.isDirectory()) return 'a folder';
  if (status.isFIFO()) return 'a pipe';
  return status.isSocket() ? 'a socket' : 'a device';
}
