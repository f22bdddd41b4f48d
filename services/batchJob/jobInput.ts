import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { boundedLines } from '../json/index.js';
import { BatchJobError } from './batchJobError.js';

/** No server takes a request so long. */
const MOST_LINE_BYTES = 256 * 1024 * 1024;

/** A line as a request. */
export type JobBody = Readonly<Record<string, unknown>>;

/** One line of a JSON Lines file that asks for something. */
export interface JobLine {
  /** From 1, blank lines counted. */
  readonly line: number;
  /** Of its text, by which it is known again. */
  readonly digest: string;
  /** The request's body; undefined: the line is no JSON. */
  readonly body?: JobBody;
  /** What is wrong with the line. */
  readonly problem?: string;
}

/** Opens a file of lines. Rejects with a BatchJobError `unreadableInput`. */
export async function openInput(path: string): Promise<FileHandle> {
  try {
    const file = await open(path);
    if ((await file.stat()).isDirectory()) {
      await file.close();
      throw new BatchJobError('unreadableInput', `${path} is a folder; name a file of JSON Lines`);
    }
    return file;
  } catch (cause) {
    if (cause instanceof BatchJobError) throw cause;
    throw new BatchJobError('unreadableInput', (cause as Error).message, { cause });
  }
}

/** Reads lines as they are asked for, and closes the file. A line is an input, or a request: an object with `input`. */
export async function* jobLines(file: FileHandle): AsyncGenerator<JobLine> {
  let line = 0;
  const tooLong = (at: number) =>
    new BatchJobError(
      'unreadableInput',
      `line ${at} has more than ${MOST_LINE_BYTES} bytes: give a file of JSON Lines`,
    );
  for await (const bytes of boundedLines(file.createReadStream(), MOST_LINE_BYTES, tooLong)) {
    line += 1;
    const text = bytes.toString('utf8').replace(/\r$/, '');
    const plain = line === 1 ? text.replace(/^\uFEFF/, '') : text;
    if (plain.trim() !== '') yield readLine(plain, line);
  }
}

function readLine(text: string, line: number): JobLine {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { line, digest, problem: `not JSON: ${(error as Error).message}` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { line, digest, body: { input: value } };
  }
  if ('input' in value) return { line, digest, body: { ...value } };
  return { line, digest, problem: 'an object without \'input\'; give an input, or {"input": …}' };
}
