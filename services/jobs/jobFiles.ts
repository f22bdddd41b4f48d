import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { LAUNCH_CLASSES } from '../../containers/protocol/index.js';
import type { ChunkResults, JobDescription } from './job.js';

export const DESCRIPTION = 'job.json';
export const INPUT = 'input';
export const RESULTS = 'results';
export const CANCELLED = 'cancelled';

/** Of each record in a file of results, before its text: chunk, bytes, answered, failed, and 8 bytes of a hash of all of it. */
export const HEAD_BYTES = 24;

export interface Place {
  readonly offset: number;
  readonly bytes: number;
}

/** A job as its files say. */
export interface ReadJob {
  readonly description: JobDescription;
  /** Where the chunks of the input are. */
  readonly input: readonly Place[];
  /** Where the results of each chunk are. */
  readonly places: Map<number, Place>;
  /** The end of what is whole in the file of results; what follows is written over. */
  readonly end: number;
  readonly answered: number;
  readonly failed: number;
  readonly isCancelled: boolean;
}

const count = z.int().nonnegative();

const descriptionSchema = z.object({
  description: z.object({
    id: z.string(),
    application: z.string(),
    launchClass: z.enum(LAUNCH_CLASSES),
    lines: count,
    chunks: count,
    inputBytes: count,
    createdMs: count.max(8.64e15),
  }),
  /** Bytes of each chunk. */
  input: z.array(count),
});

/** @throws Error (as a rejection) saying what is wrong with its files */
export async function readJob(folder: string): Promise<ReadJob> {
  const { description, input } = await readDescription(folder);
  let offset = 0;
  const places = input.map((bytes) => ({ offset: (offset += bytes) - bytes, bytes }));
  await checkInput(folder, description, offset, places.length);
  const results = await readResults(folder, description.chunks);
  return { description, input: places, isCancelled: existsSync(join(folder, CANCELLED)), ...results };
}

export function descriptionText(description: JobDescription, input: readonly Place[]): string {
  return JSON.stringify({ description, input: input.map(({ bytes }) => bytes) });
}

async function readDescription(folder: string): Promise<z.infer<typeof descriptionSchema>> {
  let value: unknown;
  const text = await readFile(join(folder, DESCRIPTION), 'utf8');
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`its ${DESCRIPTION} is no JSON`);
  }
  const read = descriptionSchema.safeParse(value);
  if (!read.success) {
    const [{ path, message }] = read.error.issues;
    throw new Error(`its ${DESCRIPTION} is no description of a job: ${path.join('.')}: ${message}`);
  }
  const { id } = read.data.description;
  if (id !== basename(folder)) throw new Error(`its ${DESCRIPTION} is of job '${id.slice(0, 60)}'`);
  return read.data;
}

async function checkInput(
  folder: string,
  { chunks, inputBytes }: JobDescription,
  bytes: number,
  places: number,
): Promise<void> {
  if (chunks !== places || inputBytes !== bytes)
    throw new Error(`its ${DESCRIPTION} contradicts itself about the input`);
  const file = await open(join(folder, INPUT), 'r');
  try {
    const { size } = await file.stat();
    if (size !== bytes) throw new Error(`its input has ${size} bytes, and not ${bytes}`);
  } finally {
    await file.close();
  }
}

async function readResults(
  folder: string,
  chunks: number,
): Promise<Pick<ReadJob, 'places' | 'end' | 'answered' | 'failed'>> {
  const places = new Map<number, Place>();
  let [end, answered, failed] = [0, 0, 0];
  const file = await open(join(folder, RESULTS), 'r');
  try {
    const { size } = await file.stat();
    while (end + HEAD_BYTES <= size) {
      const head = Buffer.alloc(HEAD_BYTES);
      await file.read(head, 0, HEAD_BYTES, end);
      const bytes = head.readUInt32LE(4);
      const body = Buffer.alloc(Math.min(bytes, size - end - HEAD_BYTES));
      await file.read(body, 0, body.length, end + HEAD_BYTES);
      const [index, more, moreFailed] = [head.readUInt32LE(0), head.readUInt32LE(8), head.readUInt32LE(12)];
      if (index >= chunks || !headOf(index, { answered: more, failed: moreFailed }, body).equals(head)) break;
      places.set(index, { offset: end + HEAD_BYTES, bytes });
      end += HEAD_BYTES + bytes;
      answered += more;
      failed += moreFailed;
    }
  } finally {
    await file.close();
  }
  return { places, end, answered, failed };
}

export function headOf(
  index: number,
  { answered, failed }: Omit<ChunkResults, 'text'>,
  text: Uint8Array,
): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(index, 0);
  head.writeUInt32LE(text.length, 4);
  head.writeUInt32LE(answered, 8);
  head.writeUInt32LE(failed, 12);
  createHash('sha256').update(head.subarray(0, 16)).update(text).digest().copy(head, 16, 0, 8);
  return head;
}

/** @throws Error (as a rejection), also where the file is shorter */
export async function readAt(path: string, { offset, bytes }: Place): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(bytes);
    const { bytesRead } = await file.read(buffer, 0, bytes, offset);
    if (bytesRead < bytes) throw new Error(`${path} ends after ${offset + bytesRead} bytes`);
    return buffer;
  } finally {
    await file.close();
  }
}

export async function writeAll(file: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, offset + done);
    done += bytesWritten;
  }
}

export async function written(path: string, text: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** What was renamed in a folder is there also after a power cut. */
export async function synced(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
