import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_FILE } from './lockAside.js';

/** The files of a store are no longer where they were opened. */
export class DisplacedError extends Error {
  override readonly name = 'DisplacedError';
}

/**
 * Whether a store's files still lie where they were opened: what is written to files that somebody has removed, moved or
 * replaced is there for no later start. A lock that was removed keeps nobody out.
 */
export class PlaceOfFiles {
  private readonly data: string;
  private readonly lock: string;
  private readonly dataId: string;
  /** Undefined as long as nothing was locked. */
  private lockId: string | undefined;
  private bytes: number;

  /** @throws Error when they are not there */
  constructor(directory: string) {
    this.data = join(directory, 'store', DATA_FILE);
    this.lock = join(directory, 'lock');
    const { id, bytes } = found(this.data);
    this.dataId = id;
    this.bytes = bytes;
  }

  /** Before files are written. @throws DisplacedError */
  check(): void {
    const { id, bytes } = found(this.data);
    if (id !== this.dataId) throw new DisplacedError(`${this.data} is another file now`);
    // LMDB would look for its pages behind the end, and the system end the process.
    if (bytes < this.bytes) throw new DisplacedError(`${this.data} has been cut short`);
    const lock = found(this.lock).id;
    this.lockId ??= lock;
    if (lock !== this.lockId) throw new DisplacedError(`${this.lock} is another file now`);
  }

  /** Files have been written. */
  written(): void {
    this.bytes = found(this.data).bytes;
  }
}

function found(path: string): { readonly id: string; readonly bytes: number } {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new DisplacedError(`${path} is gone`);
  return { id: `${stat.dev} ${stat.ino}`, bytes: stat.size };
}
