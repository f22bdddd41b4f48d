import { randomBytes } from 'node:crypto';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../../simulator/files/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import {
  byAge,
  HANDED_OUT,
  type ChunkResults,
  type JobChunk,
  type JobCounts,
  type JobDescription,
  type JobLedger,
  type JobProgress,
  type JobState,
  type UnreadableJob,
} from './job.js';
import { askingLines, chunkOf } from './jobChunks.js';
import { JobError, noRoom, unknownJob } from './jobError.js';
import {
  CANCELLED,
  DESCRIPTION,
  descriptionText,
  HEAD_BYTES,
  headOf,
  INPUT,
  readAt,
  readJob,
  RESULTS,
  synced,
  writeAll,
  written,
  type Place,
  type ReadJob,
} from './jobFiles.js';

/** A folder whose input is not whole; what a process left that died meanwhile goes at the next start. */
const UNFINISHED = '.new-';

/** A job that this process has open. */
interface OpenJob extends ReadJob {
  readonly folder: string;
  end: number;
  answered: number;
  failed: number;
  isCancelled: boolean;
  /** Every chunk before it has its results. */
  firstOpen: number;
  /** When it last got results, or was opened. */
  changedMs: number;
  /** Writes follow one another. */
  last: Promise<unknown>;
}

/**
 * Jobs as folders of files of one process: `input` in chunks, `results` appended chunk by chunk as they come, each with a
 * hash, so that what a crash left of the last one is told from a whole one; `job.json` once the input is whole.
 */
export class FileLedger implements JobLedger {
  private readonly jobs = new Map<string, OpenJob>();
  private readonly broken = new Map<string, UnreadableJob>();
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
      const entries = await readdir(folder, { withFileTypes: true });
      for (const name of entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)) {
        if (name.startsWith(UNFINISHED)) await rm(join(folder, name), { recursive: true, force: true });
        else if (!name.startsWith('.')) await ledger.read(name);
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
        await written(join(folder, DESCRIPTION), descriptionText(description, input));
        await written(join(folder, RESULTS), '');
        await rename(folder, join(this.folder, id));
        await synced(this.folder);
        return opened(join(this.folder, id), {
          description,
          input,
          places: new Map(),
          end: 0,
          answered: 0,
          failed: 0,
          isCancelled: false,
        });
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
    return Promise.resolve([...this.jobs.values()].map(progressOf).sort(byAge));
  }

  unreadable(): readonly UnreadableJob[] {
    return [...this.broken.values()];
  }

  progress(id: string): Promise<JobProgress | undefined> {
    const job = this.jobs.get(id);
    return Promise.resolve(job && progressOf(job));
  }

  async chunk(id: string, index: number): Promise<JobChunk | undefined> {
    const { folder, input, places } = this.job(id);
    if (places.has(index)) return undefined;
    const bytes = await this.attempt(() => readAt(join(folder, INPUT), input[index]));
    return chunkOf(id, index, bytes.toString());
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
    if (!this.broken.delete(id)) {
      const { last } = this.job(id);
      this.jobs.delete(id);
      await last;
    }
    await this.attempt(async () => {
      // Under this name it is gone, whatever happens while its files go.
      const gone = join(this.folder, UNFINISHED + id);
      await rename(join(this.folder, id), gone);
      await rm(gone, { recursive: true, force: true });
    });
  }

  work(take: (id: string, index: number) => Promise<void>): void {
    this.take = take;
    this.handOut();
  }

  counts(): JobCounts {
    const nowMs = performance.now();
    const jobs: Record<JobState, number> = { running: 0, done: 0, cancelled: 0 };
    let [linesPending, lagMs] = [0, 0];
    for (const job of this.jobs.values()) {
      const state = stateOf(job);
      jobs[state] += 1;
      if (state !== 'running') continue;
      linesPending += job.description.lines - job.answered;
      lagMs = Math.max(lagMs, nowMs - job.changedMs);
    }
    return { jobs, spooled: 0, unreadable: this.broken.size, linesPending, lagSeconds: lagMs / 1000 };
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all([...this.jobs.values()].map(({ last }) => last));
    if (this.isTemporary) await rm(this.folder, { recursive: true, force: true });
  }

  /** One that cannot be read is no reason to serve none of the others. */
  private async read(name: string): Promise<void> {
    const folder = join(this.folder, name);
    try {
      this.jobs.set(name, opened(folder, await readJob(folder)));
    } catch (error) {
      this.broken.set(name, { id: name, reason: reasonOf(error) });
    }
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
    job.changedMs = performance.now();
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
    throw noRoom(this.mostBytes);
  }

  private job(id: string): OpenJob {
    const job = this.jobs.get(id);
    if (job === undefined) throw unknownJob(id);
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

function opened(folder: string, job: ReadJob): OpenJob {
  return { ...job, folder, firstOpen: 0, changedMs: performance.now(), last: Promise.resolve() };
}

function stateOf({ description, places, isCancelled }: OpenJob): JobState {
  if (places.size === description.chunks) return 'done';
  return isCancelled ? 'cancelled' : 'running';
}

function progressOf(job: OpenJob): JobProgress {
  const { description, answered, failed } = job;
  return { description, state: stateOf(job), answered, failed };
}
