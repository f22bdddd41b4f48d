import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, readdir, readFile, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../../simulator/files/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import type { ChunkResults, JobChunk, JobDescription, JobLedger, JobProgress, JobState } from './job.js';
import { askingLines } from './jobChunks.js';
import { JobError } from './jobError.js';

const DESCRIPTION = 'job.json';
const INPUT = 'input';
const RESULTS = 'results';
const CANCELLED = 'cancelled';
/** A folder whose input is not whole; what a process left that died meanwhile goes at the next start. */
const UNFINISHED = '.new-';

/** Of each record in a file of results, before its text: chunk, bytes, answered, failed, and 8 bytes of a hash of all of it. */
const HEAD_BYTES = 24;

/** How many chunks are handed out at a time. */
const HANDED_OUT = 8;

interface Place {
  readonly offset: number;
  readonly bytes: number;
}

/** A job that this process has open. */
interface OpenJob {
  readonly description: JobDescription;
  readonly folder: string;
  /** Where the chunks of the input are. */
  readonly input: readonly Place[];
  /** Where the results of each chunk are. */
  readonly places: Map<number, Place>;
  /** The end of what is whole in the file of results. */
  end: number;
  /** Every chunk before it has its results. */
  firstOpen: number;
  answered: number;
  failed: number;
  isCancelled: boolean;
  /** Writes follow one another. */
  last: Promise<unknown>;
}

/**
 * Jobs as folders of files of one process: `input` in chunks, `results` appended chunk by chunk as they come, each with a
 * hash, so that what a crash left of the last one is told from a whole one; `job.json` once the input is whole.
 */
export class FileLedger implements JobLedger {
  private readonly jobs = new Map<string, OpenJob>();
  private readonly handedOut = new Set<string>();
  private take: ((id: string, index: number) => Promise<void>) | undefined;
  private isStopped = false;
  /** The job whose turn is next. */
  private turn = 0;

  private constructor(
    private readonly folder: string,
    private readonly mostBytes: number,
    private readonly isTemporary: boolean,
  ) {}

  /**
   * @param folder of this process alone
   * @param mostBytes of all jobs' inputs and results together
   * @param isTemporary it goes with `stop`
   * @throws JobError (as a rejection) `unusable`
   */
  static async open(folder: string, mostBytes: number, isTemporary = false): Promise<FileLedger> {
    const ledger = new FileLedger(folder, mostBytes, isTemporary);
    await ledger.attempt(async () => {
      makeDirectory(folder);
      for (const name of (await readdir(folder)).sort()) {
        if (name.startsWith(UNFINISHED)) await rm(join(folder, name), { recursive: true, force: true });
        else if (existsSync(join(folder, name, DESCRIPTION))) {
          const job = await readJob(join(folder, name));
          ledger.jobs.set(job.description.id, job);
        }
      }
    });
    return ledger;
  }

  async create(
    of: Pick<JobDescription, 'application' | 'launchClass'>,
    chunks: AsyncIterable<JobChunk>,
  ): Promise<JobDescription> {
    const createdMs = Date.now();
    // Ids in the order of their creation.
    const id = `${createdMs.toString(36)}-${randomBytes(6).toString('hex')}`;
    const folder = join(this.folder, UNFINISHED + id);
    try {
      const job = await this.attempt(async () => {
        makeDirectory(folder);
        const input: Place[] = [];
        let [lines, offset] = [0, 0];
        const file = await open(join(folder, INPUT), 'wx');
        try {
          for await (const chunk of chunks) {
            const bytes = Buffer.from(`${JSON.stringify(chunk)}\n`);
            this.checkRoom(offset + bytes.length);
            await file.writeFile(bytes);
            input.push({ offset, bytes: bytes.length });
            offset += bytes.length;
            lines += askingLines(chunk);
          }
          await file.sync();
        } finally {
          await file.close();
        }
        const description = { id, ...of, lines, chunks: input.length, inputBytes: offset, createdMs };
        await written(
          join(folder, DESCRIPTION),
          JSON.stringify({ description, input: input.map(({ bytes }) => bytes) }),
        );
        await written(join(folder, RESULTS), '');
        await rename(folder, join(this.folder, id));
        await synced(this.folder);
        return newJob(description, join(this.folder, id), input);
      });
      this.jobs.set(id, job);
      this.handOut();
      return job.description;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  list(): Promise<readonly JobProgress[]> {
    return Promise.resolve([...this.jobs.values()].map(progressOf));
  }

  progress(id: string): Promise<JobProgress | undefined> {
    const job = this.jobs.get(id);
    return Promise.resolve(job && progressOf(job));
  }

  async chunk(id: string, index: number): Promise<JobChunk> {
    const { folder, input } = this.job(id);
    const text = await this.attempt(() => readAt(join(folder, INPUT), input[index]));
    return JSON.parse(text.toString()) as JobChunk;
  }

  keep(id: string, index: number, results: ChunkResults): Promise<boolean> {
    const job = this.jobs.get(id);
    if (job === undefined) return Promise.resolve(false);
    const work = job.last.then(() => this.append(job, index, results));
    job.last = work.catch(() => undefined);
    return work;
  }

  async results(id: string, index: number): Promise<string | undefined> {
    const job = this.job(id);
    const place = job.places.get(index);
    if (place === undefined) return undefined;
    return (await this.attempt(() => readAt(join(job.folder, RESULTS), place))).toString();
  }

  async cancel(id: string): Promise<void> {
    const job = this.job(id);
    if (stateOf(job) !== 'running') return;
    await this.attempt(() => written(join(job.folder, CANCELLED), ''));
    job.isCancelled = true;
  }

  async remove(id: string): Promise<void> {
    const job = this.job(id);
    this.jobs.delete(id);
    await job.last;
    await this.attempt(async () => {
      // Under this name it is gone, whatever happens while its files go.
      const gone = join(this.folder, UNFINISHED + id);
      await rename(job.folder, gone);
      await rm(gone, { recursive: true, force: true });
    });
  }

  work(take: (id: string, index: number) => Promise<void>): void {
    this.take = take;
    this.handOut();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all([...this.jobs.values()].map(({ last }) => last));
    if (this.isTemporary) await rm(this.folder, { recursive: true, force: true });
  }

  private async append(job: OpenJob, index: number, results: ChunkResults): Promise<boolean> {
    if (job.isCancelled || job.places.has(index) || !this.jobs.has(job.description.id)) return false;
    const text = Buffer.from(results.text);
    const head = headOf(index, results, text);
    await this.attempt(async () => {
      this.checkRoom(HEAD_BYTES + text.length);
      const file = await open(join(job.folder, RESULTS), 'r+');
      try {
        // Over what a write that failed may have left.
        await writeAll(file, Buffer.concat([head, text]), job.end);
        await file.datasync();
      } finally {
        await file.close();
      }
    });
    job.places.set(index, { offset: job.end + HEAD_BYTES, bytes: text.length });
    job.end += HEAD_BYTES + text.length;
    job.answered += results.answered;
    job.failed += results.failed;
    return true;
  }

  /** One chunk of each job in turn, so that a long job does not keep a short one waiting. */
  private handOut(): void {
    const { take } = this;
    if (take === undefined) return;
    while (!this.isStopped && this.handedOut.size < HANDED_OUT) {
      const next = this.nextChunk();
      if (next === undefined) return;
      const [id, index] = next;
      const name = `${id} ${index}`;
      this.handedOut.add(name);
      void take(id, index).finally(() => {
        this.handedOut.delete(name);
        this.handOut();
      });
    }
  }

  private nextChunk(): readonly [string, number] | undefined {
    const running = [...this.jobs.values()].filter((job) => stateOf(job) === 'running');
    for (let tried = 0; tried < running.length; tried++) {
      this.turn = (this.turn + 1) % running.length;
      const job = running[this.turn];
      const { description, places } = job;
      while (places.has(job.firstOpen)) job.firstOpen += 1;
      for (let index = job.firstOpen; index < description.chunks; index++) {
        if (!places.has(index) && !this.handedOut.has(`${description.id} ${index}`))
          return [description.id, index];
      }
    }
    return undefined;
  }

  /** @throws JobError `full` */
  private checkRoom(bytes: number): void {
    let total = bytes;
    for (const { description, end } of this.jobs.values()) total += description.inputBytes + end;
    if (total <= this.mostBytes) return;
    throw new JobError(
      'full',
      `all jobs together may take ${Math.floor(this.mostBytes / 2 ** 20)} MiB (--jobs-mib): remove jobs that are done`,
    );
  }

  private job(id: string): OpenJob {
    const job = this.jobs.get(id);
    if (job === undefined) throw new JobError('unknown', `there is no job '${id.slice(0, 60)}'`);
    return job;
  }

  private async attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      // What the input's reader throws is its own.
      if (code === undefined || !(error instanceof Error) || !('syscall' in error)) throw error;
      const isFull = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
      throw new JobError(isFull ? 'full' : 'unusable', `the jobs in ${this.folder}: ${reasonOf(error)}`, {
        cause: error,
      });
    }
  }
}

function newJob(description: JobDescription, folder: string, input: readonly Place[]): OpenJob {
  return {
    description,
    folder,
    input,
    places: new Map(),
    end: 0,
    firstOpen: 0,
    answered: 0,
    failed: 0,
    isCancelled: false,
    last: Promise.resolve(),
  };
}

function stateOf({ description, places, isCancelled }: OpenJob): JobState {
  if (places.size === description.chunks) return 'done';
  return isCancelled ? 'cancelled' : 'running';
}

function progressOf(job: OpenJob): JobProgress {
  const { description, answered, failed } = job;
  return { description, state: stateOf(job), answered, failed };
}

/** A job as its files say; what is not whole at the end of the results is written over. */
async function readJob(folder: string): Promise<OpenJob> {
  const text = await readFile(join(folder, DESCRIPTION), 'utf8');
  const { description, input } = JSON.parse(text) as {
    description: JobDescription;
    input: readonly number[];
  };
  let offset = 0;
  const places = input.map((bytes) => ({ offset: (offset += bytes) - bytes, bytes }));
  const job = newJob(description, folder, places);
  job.isCancelled = existsSync(join(folder, CANCELLED));
  const file = await open(join(folder, RESULTS), 'r');
  try {
    const { size } = await file.stat();
    while (job.end + HEAD_BYTES <= size) {
      const head = Buffer.alloc(HEAD_BYTES);
      await file.read(head, 0, HEAD_BYTES, job.end);
      const bytes = head.readUInt32LE(4);
      const body = Buffer.alloc(Math.min(bytes, size - job.end - HEAD_BYTES));
      await file.read(body, 0, body.length, job.end + HEAD_BYTES);
      const [index, answered, failed] = [head.readUInt32LE(0), head.readUInt32LE(8), head.readUInt32LE(12)];
      if (!headOf(index, { answered, failed }, body).equals(head)) break;
      job.places.set(index, { offset: job.end + HEAD_BYTES, bytes });
      job.end += HEAD_BYTES + bytes;
      job.answered += answered;
      job.failed += failed;
    }
  } finally {
    await file.close();
  }
  return job;
}

function headOf(index: number, { answered, failed }: Omit<ChunkResults, 'text'>, text: Uint8Array): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(index, 0);
  head.writeUInt32LE(text.length, 4);
  head.writeUInt32LE(answered, 8);
  head.writeUInt32LE(failed, 12);
  createHash('sha256').update(head.subarray(0, 16)).update(text).digest().copy(head, 16, 0, 8);
  return head;
}

async function readAt(path: string, { offset, bytes }: Place): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(bytes);
    await file.read(buffer, 0, bytes, offset);
    return buffer;
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, offset + done);
    done += bytesWritten;
  }
}

async function written(path: string, text: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** What was renamed in a folder is there also after a power cut. */
async function synced(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
