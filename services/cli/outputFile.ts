import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { reasonOf } from '../../simulator/text/index.js';
import { CommandError } from './commandError.js';

const PIECE_BYTES = 2 ** 20;

/**
 * A file that a command writes, piece by piece. Until all of it is there it has no name, so that a command that fails or is
 * stopped leaves neither a part nor spoils what has the name so far. What is no plain file (a pipe, a terminal) is
 * written as the pieces come.
 */
export class OutputFile {
  /** Where the pieces go. */
  private file: number | undefined;
  /** What the option names, behind links. */
  private readonly target: string;
  private readonly isPlain: boolean;
  private hasFailed = false;

  /** @param option whose value the path is, for messages. @throws CommandError when it can be seen that it cannot be written */
  constructor(
    readonly path: string,
    readonly option: string,
  ) {
    const found = this.attempt(() => {
      if (!existsSync(path)) {
        accessSync(dirname(path), constants.W_OK);
        return { target: path, isPlain: true };
      }
      const stat = statSync(path);
      if (stat.isDirectory()) throw new Error(`${path} is a folder`);
      accessSync(path, constants.W_OK);
      if (!stat.isFile()) return { target: path, isPlain: false };
      const target = realpathSync(path);
      accessSync(dirname(target), constants.W_OK);
      return { target, isPlain: true };
    });
    this.target = found.target;
    this.isPlain = found.isPlain;
  }

  /** @throws CommandError */
  write(content: string | Uint8Array): void {
    this.attempt(() => {
      this.file ??= this.isPlain ? openNameless(this.temporary) : openSync(this.target, 'w');
      writeAll(this.file, typeof content === 'string' ? Buffer.from(content, 'utf8') : content);
    });
  }

  /** Ends it: what was written has its name from now on, unless some of it could not be written. @throws CommandError */
  close(): void {
    const { file } = this;
    if (file === undefined) return;
    this.file = undefined;
    try {
      if (this.isPlain && !this.hasFailed) this.attempt(() => this.name(file));
    } finally {
      closeSync(file);
    }
  }

  private get temporary(): string {
    return `${this.target}.${process.pid}.part`;
  }

  private name(file: number): void {
    const { temporary } = this;
    const copy = openSync(temporary, 'wx');
    try {
      const piece = Buffer.alloc(PIECE_BYTES);
      for (let at = 0; ;) {
        const length = readSync(file, piece, 0, piece.length, at);
        if (length === 0) break;
        writeAll(copy, piece.subarray(0, length));
        at += length;
      }
      renameSync(temporary, this.target);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    } finally {
      closeSync(copy);
    }
  }

  private attempt<T>(act: () => T): T {
    try {
      return act();
    } catch (cause) {
      this.hasFailed = true;
      const reason = reasonOf(cause);
      // What fails on an open file tells of no path.
      const named = reason.includes("'") || reason.includes(this.path) ? reason : `${reason}: ${this.path}`;
      throw new CommandError(`${this.option}: ${named}`, { cause });
    }
  }
}

/** A file that is gone when it is closed, or when the process ends, however it ends. */
function openNameless(path: string): number {
  const file = openSync(path, 'wx+');
  rmSync(path);
  return file;
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
}

/** A file that a command reads, and what to call it in messages. */
export interface NamedInput {
  readonly what: string;
  readonly path: string | undefined;
}

/** @throws CommandError when files to write are the same, or one that is read: it would be lost */
export function checkApart(
  outputs: readonly Pick<OutputFile, 'option' | 'path'>[],
  inputs: readonly NamedInput[],
): void {
  const taken = new Map<string, string>();
  for (const { what, path } of inputs) {
    // What is not there cannot be lost: a card's name is no file.
    const place = path === undefined || !existsSync(path) ? undefined : placeOf(path);
    if (place !== undefined && !taken.has(place)) taken.set(place, what);
  }
  for (const { option, path } of outputs) {
    const place = placeOf(path);
    if (place === undefined) continue;
    const other = taken.get(place);
    if (other !== undefined) {
      throw new CommandError(`${option}: ${path} is ${other} too, and would be lost; name another file`);
    }
    taken.set(place, `the file of ${option}`);
  }
}

/** The same for every name of one plain file; undefined for what is none, such as a terminal. */
function placeOf(path: string): string | undefined {
  if (!existsSync(path)) return resolve(path);
  const stat = statSync(path);
  return stat.isFile() ? `${stat.dev}:${stat.ino}` : undefined;
}
