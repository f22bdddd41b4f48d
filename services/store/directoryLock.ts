import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeDirectory } from '../../simulator/files/index.js';
import { StoreError } from './storeError.js';

/** Who holds a data directory. */
interface Holder {
  readonly pid: number;
  /** When that process began, in the kernel's ticks: a number given again to another process is told apart. */
  readonly started: string;
}

/**
 * Keeps a second process out of a data directory: each holds a memory image of it, and would not see the other's writes.
 * A holder that was killed leaves its file behind; the file counts only while that very process lives.
 * @returns the release
 * @throws StoreError `inUse`, `unusable`
 */
export function lockDirectory(directory: string): () => void {
  const path = join(directory, 'lock');
  const own: Holder = { pid: process.pid, started: startOf(process.pid) ?? '' };
  try {
    makeDirectory(resolve(directory));
    for (let attempt = 0; ; attempt++) {
      if (tryWrite(path, own)) break;
      const holder = readHolder(path);
      if (holder !== undefined && isAlive(holder)) {
        throw new StoreError(
          'inUse',
          `the data directory ${directory} is in use by process ${holder.pid}; stop it or choose another directory`,
        );
      }
      if (attempt === 3)
        throw new StoreError('inUse', `the data directory ${directory} is being taken by others`);
      rmSync(path, { force: true });
    }
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new StoreError('unusable', `the data directory ${directory} cannot be used: ${message}`, {
      cause: error,
    });
  }
  return () => rmSync(path, { force: true });
}

function tryWrite(path: string, own: Holder): boolean {
  try {
    writeFileSync(path, JSON.stringify(own), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readHolder(path: string): Holder | undefined {
  try {
    const parsed = JSON.parse(readFileSync(path, 'utf8')) as Partial<Holder> | null;
    if (typeof parsed?.pid !== 'number' || typeof parsed.started !== 'string') return undefined;
    return { pid: parsed.pid, started: parsed.started };
  } catch {
    return undefined;
  }
}

function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // Another user's process lives, too.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const started = startOf(holder.pid);
  return started === undefined || holder.started === '' || started === holder.started;
}

/** Field 22 of /proc/PID/stat; undefined where there is no /proc. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command in parentheses and may hold spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
