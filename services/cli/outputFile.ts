import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { CommandError } from './commandError.js';

/** A trace on its way to a file, piece by piece. The file is made with the first piece; a part of a trace is not left behind. */
export class TraceFile {
  private file: number | undefined;
  private hasFailed = false;

  /** @param option whose value the path is, for messages. @throws CommandError when it can be seen that it cannot be written */
  constructor(
    private readonly path: string,
    private readonly option: string,
  ) {
    this.attempt(() => {
      if (existsSync(path) && statSync(path).isDirectory()) throw new Error(`${path} is a folder`);
      accessSync(existsSync(path) ? path : dirname(path), constants.W_OK);
    });
  }

  /** @throws CommandError */
  write(text: string): void {
    this.attempt(() => {
      const file = (this.file ??= openSync(this.path, 'w'));
      const bytes = Buffer.from(text, 'utf8');
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    });
  }

  close(): void {
    if (this.file === undefined) return;
    const isPart = this.hasFailed && fstatSync(this.file).isFile();
    closeSync(this.file);
    this.file = undefined;
    if (isPart) rmSync(this.path, { force: true });
  }

  private attempt(act: () => void): void {
    try {
      act();
    } catch (cause) {
      this.hasFailed = true;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new CommandError(`${this.option}: ${reason}`, { cause });
    }
  }
}
