import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { jsonText } from '../json/index.js';
import { BatchJobError } from './batchJobError.js';
import type { JobLine } from './jobInput.js';

/** What becomes of a file that is there already. */
export type Existing = 'refuse' | 'resume' | 'overwrite';

/** What is written of one line, beside its number and digest. */
export type LineResult = Readonly<Record<string, unknown>>;

/**
 * A job's answers, a JSON object a line as they come, `line` and `digest` telling of which input. A line is written whole or,
 * when the machine fails in the middle of it, cut off at the end of the file: then it counts as not there.
 */
export class JobOutput {
  private readonly file: number;
  private readonly answered: ReadonlyMap<number, string>;

  /** @throws BatchJobError `unusableOutput` */
  constructor(
    private readonly path: string,
    existing: Existing,
  ) {
    const attempt = <T>(step: () => T): T => {
      try {
        return step();
      } catch (cause) {
        if (cause instanceof BatchJobError) throw cause;
        throw new BatchJobError('unusableOutput', `${path}: ${(cause as Error).message}`, { cause });
      }
    };
    const isThere = attempt(() => existsSync(path) && statSync(path).size > 0);
    if (isThere && existing === 'refuse') {
      throw new BatchJobError(
        'unusableOutput',
        `${path} holds answers already: --resume goes on where it ends, --overwrite begins anew`,
      );
    }
    this.answered = attempt(() =>
      isThere && existing === 'resume' ? keepAnswers(path) : new Map<number, string>(),
    );
    this.file = attempt(() => openSync(path, existing === 'overwrite' ? 'w' : 'a'));
  }

  /** Lines that were answered before. */
  get kept(): number {
    return this.answered.size;
  }

  /** Whether an earlier run has an answer to it. @throws BatchJobError when the answer is to another input */
  has({ line, digest }: JobLine): boolean {
    const known = this.answered.get(line);
    if (known === undefined || known === digest) return known !== undefined;
    throw new BatchJobError(
      'unusableOutput',
      `${this.path} has an answer to another input than line ${line} of this file: it is the output of another job`,
    );
  }

  write({ line, digest }: JobLine, result: LineResult): void {
    const bytes = Buffer.from(`${jsonText({ line, digest, ...result })}\n`);
    let written = 0;
    try {
      // What has room for a part of it only writes that part.
      while (written < bytes.length) written += writeSync(this.file, bytes, written);
    } catch (cause) {
      if (written > 0) this.takeBack(written);
      throw this.stopped(cause);
    }
  }

  /** @throws BatchJobError `stopped`: what was written may not last */
  close(): void {
    try {
      fsyncSync(this.file);
    } catch (cause) {
      // A pipe has nothing to be made to last.
      if ((cause as NodeJS.ErrnoException).code !== 'EINVAL') throw this.stopped(cause);
    } finally {
      closeSync(this.file);
    }
  }

  /** Cuts off what there is of a line, so that whatever comes after it begins a line of its own. */
  private takeBack(bytes: number): void {
    try {
      ftruncateSync(this.file, fstatSync(this.file).size - bytes);
    } catch {
      // The job ends here, and a line that is cut off counts as not there.
    }
  }

  private stopped(cause: unknown): BatchJobError {
    return new BatchJobError('stopped', `${this.path}: ${(cause as Error).message}`, { cause });
  }
}

/** Leaves answers in the file and takes out errors, which are asked for again, and a last line that was cut off. */
function keepAnswers(path: string): ReadonlyMap<number, string> {
  const answered = new Map<number, string>();
  const lines = readFileSync(path, 'utf8').split('\n');
  const whole = lines.slice(0, -1).filter((text) => text.trim() !== '');
  const kept = whole.filter((text, index) => {
    const { line, digest, error } = readResult(text, `${path}:${index + 1}`);
    if (error !== undefined) return false;
    answered.set(line, digest);
    return true;
  });
  if (kept.length < whole.length || lines.at(-1) !== '') {
    const temporary = `${path}.${process.pid}.tmp`;
    try {
      writeFileSync(temporary, kept.map((text) => `${text}\n`).join(''), { flush: true });
      renameSync(temporary, path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }
  return answered;
}

function readResult(text: string, place: string): { line: number; digest: string; error?: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const { line, digest, error } = (value ?? {}) as Partial<Record<string, unknown>>;
  if (typeof line === 'number' && typeof digest === 'string') return { line, digest, error };
  throw new BatchJobError('unusableOutput', `${place}: no answer of a batch job; it is another file`);
}
