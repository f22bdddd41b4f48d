import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  rmSync,
  statSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { reasonOf } from '../../../simulator/text/index.js';
import { lockDirectory, StoreError } from '../../store/index.js';
import { checkPlain } from '../processLog.js';
import { fail, mebibytes, ok, warn, type Finding } from './finding.js';

const MIB = 1024 * 1024;
const LEAST_BYTES = 64 * MIB;
/** Each change and each group of feedback waits for one. */
const SLOW_SYNC_MS = 50;
const SYNCS = 5;
/** Magic numbers of statfs. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
]);

/** The directory in which a server keeps its state. @param jobsBytes that batch jobs may take of it */
export function dataDirectory(directory: string, jobsBytes: number): Finding[] {
  return folder(directory, jobsBytes, (path) =>
    [owner(path), lock(path), space(path, jobsBytes), sync(path)].flat(),
  );
}

/** The directory in which a node keeps files of models and what it has found out about kernels: nobody waits for its disk. */
export function nodeDirectory(directory: string): Finding[] {
  return folder(directory, 0, (path) => [...owner(path), space(path, 0)]);
}

/** @param there what to look at in one that is there */
function folder(directory: string, jobsBytes: number, there: (path: string) => Finding[]): Finding[] {
  const check = 'data directory';
  const path = resolve(directory);
  if (!existsSync(path)) {
    const parent = nearestFolder(path);
    if (!isWritable(parent)) {
      return [
        fail(
          check,
          `${path} is not there, and ${parent} cannot be written`,
          'make it, for the user of the server',
        ),
      ];
    }
    return [ok(check, `${path} is not there, and will be made`), space(parent, jobsBytes)];
  }
  if (!statSync(path).isDirectory()) {
    return [fail(check, `${path} is a file, and no folder`, 'choose another with --data-dir, or remove it')];
  }
  return there(path);
}

function owner(path: string): Finding[] {
  const { uid } = statSync(path);
  const own = process.getuid?.() ?? uid;
  if (!isWritable(path)) {
    return [
      fail(
        'data directory',
        `${path} cannot be written by this user (${own}); it is of user ${uid}`,
        `chown -R ${own} ${path}`,
      ),
    ];
  }
  if (uid === own) return [];
  return [
    warn(
      'data directory',
      `${path} is of user ${uid}, and this is user ${own}`,
      'run the server as the user that it is of, always',
    ),
  ];
}

function lock(path: string): Finding {
  try {
    const unlock = lockDirectory(path);
    unlock?.();
    if (unlock !== undefined) return ok('data directory', `${path} is free`);
    return fail('data directory', `${path} is on a file system that is read-only`, 'mount it to be written');
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return fail('data directory', error.message, 'one server at a time; choose another with --data-dir');
  }
}

function space(path: string, jobsBytes: number): Finding {
  const { bavail, bsize, type } = statfsSync(path);
  const free = bavail * bsize;
  const network = NETWORK_FILE_SYSTEMS.get(type);
  if (network !== undefined) {
    return warn(
      'disk',
      `${path} is on ${network}`,
      'keep the store on a local disk: locks and memory maps there are the system’s',
    );
  }
  const text = `${mebibytes(free)} free at ${path}`;
  if (free < LEAST_BYTES) return fail('disk', text, 'make room: nothing is kept on a full disk');
  if (free >= jobsBytes + LEAST_BYTES) return ok('disk', text);
  return warn(
    'disk',
    `${text}; batch jobs may take ${mebibytes(jobsBytes)}`,
    'make room, or lower --jobs-mib',
  );
}

/** How long the disk takes to have what it is given. */
function sync(path: string): Finding {
  const trial = join(path, `.doctor-${process.pid}`);
  const times: number[] = [];
  try {
    const file = openSync(trial, 'wx');
    try {
      for (let at = 0; at < SYNCS; at++) {
        writeSync(file, 'x'.repeat(4096));
        const startMs = performance.now();
        fsyncSync(file);
        times.push(performance.now() - startMs);
      }
    } finally {
      closeSync(file);
      rmSync(trial);
    }
  } catch (error) {
    return fail('fsync', `${path} keeps nothing: ${reasonOf(error)}`, 'make room, or mend the disk');
  }
  const ms = times.sort((a, b) => a - b)[SYNCS >> 1];
  const text = `4 KiB are on disk after ${ms.toFixed(1)} ms`;
  return ms <= SLOW_SYNC_MS
    ? ok('fsync', text)
    : warn('fsync', text, 'changes wait for it: choose a faster disk with --data-dir');
}

/** Whether a log can be written there. */
export function logFile(path: string): Finding {
  try {
    checkPlain(path);
  } catch (error) {
    return fail('log', reasonOf(error), 'name a file in a folder of its own');
  }
  const folder = dirname(resolve(path));
  const there = existsSync(path) ? path : folder;
  if (existsSync(folder) && isWritable(there)) return ok('log', `${path} can be written`);
  return fail(
    'log',
    `${there} is not there, or cannot be written`,
    'make the folder of --log-file, for the user of the server',
  );
}

function nearestFolder(path: string): string {
  let folder = dirname(path);
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
