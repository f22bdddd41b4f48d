import {
  byAge,
  chunkOf,
  JobError,
  noRoom,
  unknownJob,
  type ChunkResults,
  type JobChunk,
  type JobCounts,
  type JobDescription,
  type JobProgress,
} from '../jobs/index.js';
import {
  addressText,
  redisFailure,
  RedisScript,
  type RedisAddress,
  type RedisConnection,
} from '../redis/index.js';
import { jobKeys, type JobKeys } from './jobKeys.js';

const scriptOf = (name: string) => new RedisScript(`services/jobQueue/scripts/${name}.lua`);

/** What was staged of an upload that gets nothing more for so long is collected. */
const UPLOAD_KEPT_MS = 60_000;
/** A frontend that comes back after longer may bring a job again that was removed meanwhile. */
const GONE_KEPT_MS = 90 * 86_400_000;
/** Jobs that are read together. */
const SLICE = 500;

const PROGRESS_FIELDS = ['description', 'chunks', 'kept', 'answered', 'failed', 'cancelled'] as const;

/** A job as it is handed to Redis: with what was answered of it elsewhere. */
export interface StagedJob {
  readonly description: JobDescription;
  readonly answered: number;
  readonly failed: number;
  readonly isCancelled: boolean;
}

/** Jobs as they lie in Redis. Every method rejects with a JobError where Redis does not do what it is asked. */
export class RedisJobs {
  private readonly keys: JobKeys;
  private readonly scripts = {
    stage: scriptOf('stageChunk'),
    commit: scriptOf('commitJob'),
    keep: scriptOf('keepResults'),
    cancel: scriptOf('cancelJob'),
    remove: scriptOf('removeJob'),
    drop: scriptOf('dropUpload'),
  };

  /**
   * @param prefix as of `keyPrefix`
   * @param mostBytes of all jobs' inputs and results together
   */
  constructor(
    private readonly redis: RedisConnection,
    private readonly address: RedisAddress,
    prefix: string,
    private readonly mostBytes: number,
  ) {
    this.keys = jobKeys(prefix);
  }

  /** Nobody sees it before `commit`. @returns whether the job is there already */
  async stage(id: string, index: number, chunk: JobChunk | undefined, results: string): Promise<boolean> {
    const { uploads, sizes, total, input, results: kept, job } = this.keys;
    const answer = await this.asked(() =>
      this.scripts.stage.run(
        this.redis,
        [uploads, sizes, total, input(id), kept(id), job(id)],
        [
          id,
          index,
          chunk === undefined ? '' : JSON.stringify(chunk),
          results,
          this.mostBytes,
          UPLOAD_KEPT_MS,
        ],
      ),
    );
    if (answer === 'full') throw noRoom(this.mostBytes);
    return answer === 'there';
  }

  /** @returns whether it is there now: false where it was removed after an earlier `commit` */
  async commit({ description, answered, failed, isCancelled }: StagedJob): Promise<boolean> {
    const { id, chunks, lines, createdMs } = description;
    const { uploads, all, running, cancelled, job, input, results, gone } = this.keys;
    const answer = await this.asked(() =>
      this.scripts.commit.run(
        this.redis,
        [uploads, all, running, cancelled, job(id), input(id), results(id), gone(id)],
        [
          id,
          JSON.stringify(description),
          chunks,
          lines,
          createdMs,
          answered,
          failed,
          isCancelled ? '1' : '0',
        ],
      ),
    );
    if (answer === 'missing')
      throw new JobError('unusable', `the upload of job '${id}' took too long, and was collected`);
    return answer !== 'gone';
  }

  /** The frontend that brought it has it no longer. */
  async settle(id: string): Promise<void> {
    await this.asked(() => this.redis.hdel(this.keys.job(id), 'spooled'));
  }

  /** @param onlyLate unless somebody is still at it */
  async drop(id: string, onlyLate: boolean): Promise<void> {
    const { uploads, sizes, total, input, results } = this.keys;
    await this.asked(() =>
      this.scripts.drop.run(
        this.redis,
        [uploads, sizes, total, input(id), results(id)],
        [id, onlyLate ? '1' : '0'],
      ),
    );
  }

  async collectUploads(): Promise<void> {
    const ids = await this.asked(() => this.redis.zrange(this.keys.uploads, '0', '-1'));
    for (const id of ids) await this.drop(id, true);
  }

  async list(): Promise<readonly JobProgress[]> {
    const ids = await this.asked(() => this.redis.zrange(this.keys.all, '0', '-1'));
    const found: JobProgress[] = [];
    for (let at = 0; at < ids.length; at += SLICE) {
      const slice = await Promise.all(ids.slice(at, at + SLICE).map((id) => this.progress(id)));
      found.push(...slice.filter((one) => one !== undefined));
    }
    return found.sort(byAge);
  }

  async progress(id: string): Promise<JobProgress | undefined> {
    const fields = await this.asked(() => this.redis.hmget(this.keys.job(id), ...PROGRESS_FIELDS));
    return progressOf(fields);
  }

  async chunk(id: string, index: number): Promise<JobChunk | undefined> {
    const text = await this.asked(() => this.redis.hget(this.keys.input(id), String(index)));
    if (text !== null) return chunkOf(id, index, text);
    await this.mustBe(id);
    return undefined;
  }

  async keep(id: string, index: number, { text, answered, failed }: ChunkResults): Promise<boolean> {
    const { running, sizes, total, job, input, results } = this.keys;
    const answer = await this.asked(() =>
      this.scripts.keep.run(
        this.redis,
        [running, sizes, total, job(id), input(id), results(id)],
        [id, index, text, answered, failed, this.mostBytes],
      ),
    );
    if (answer === 'full') throw noRoom(this.mostBytes);
    return answer === 'kept';
  }

  async results(id: string, index: number): Promise<string | undefined> {
    const text = await this.asked(() => this.redis.hget(this.keys.results(id), String(index)));
    if (text !== null) return text;
    await this.mustBe(id);
    return undefined;
  }

  /** @throws JobError `unknown` */
  async cancel(id: string): Promise<void> {
    const { running, cancelled, sizes, total, job, input } = this.keys;
    const keys = [running, cancelled, sizes, total, job(id), input(id)];
    const answer = await this.asked(() => this.scripts.cancel.run(this.redis, keys, [id]));
    if (answer === 'unknown') throw unknownJob(id);
  }

  /** @throws JobError `unknown` */
  async remove(id: string): Promise<void> {
    const { all, running, cancelled, sizes, total, job, input, results, gone } = this.keys;
    const keys = [all, running, cancelled, sizes, total, job(id), input(id), results(id), gone(id)];
    const answer = await this.asked(() => this.scripts.remove.run(this.redis, keys, [id, GONE_KEPT_MS]));
    if (answer === 'unknown') throw unknownJob(id);
  }

  running(): Promise<readonly string[]> {
    return this.asked(() => this.redis.smembers(this.keys.running));
  }

  /** Whether somebody should answer it. */
  async isOpen(id: string, index: number): Promise<boolean> {
    return (await this.asked(() => this.redis.hexists(this.keys.input(id), String(index)))) === 1;
  }

  /** Numbers of the chunks without results, in their order. */
  async open(id: string): Promise<readonly number[]> {
    const names = await this.asked(() => this.redis.hkeys(this.keys.input(id)));
    return names.map(Number).sort((a, b) => a - b);
  }

  async counts(): Promise<Omit<JobCounts, 'spooled' | 'unreadable'>> {
    const { all, cancelled } = this.keys;
    const [running, total, ended, time] = await this.asked(() =>
      Promise.all([this.running(), this.redis.zcard(all), this.redis.scard(cancelled), this.redis.time()]),
    );
    const nowMs = Number(time[0]) * 1000 + Number(time[1]) / 1000;
    let [linesPending, lagMs] = [0, 0];
    for (let at = 0; at < running.length; at += SLICE) {
      const slice = running.slice(at, at + SLICE);
      const found = await this.asked(() =>
        Promise.all(slice.map((id) => this.redis.hmget(this.keys.job(id), 'lines', 'answered', 'changed'))),
      );
      for (const [lines, answered, changed] of found) {
        if (lines === null) continue;
        linesPending += Number(lines) - Number(answered);
        lagMs = Math.max(lagMs, nowMs - Number(changed));
      }
    }
    return {
      jobs: { running: running.length, cancelled: ended, done: Math.max(0, total - ended - running.length) },
      linesPending,
      lagSeconds: lagMs / 1000,
    };
  }

  /** @throws JobError (as a rejection) in place of what Redis or its connection says */
  async asked<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof JobError) throw error;
      const { cause, words } = redisFailure(error, this.redis.status === 'connect');
      const code = CODES[cause] ?? 'unusable';
      throw new JobError(code, `jobs are kept at ${addressText(this.address)}: ${words}`, { cause: error });
    }
  }

  /** @throws JobError `unknown` */
  private async mustBe(id: string): Promise<void> {
    if ((await this.asked(() => this.redis.exists(this.keys.job(id)))) === 0) throw unknownJob(id);
  }
}

const CODES: Readonly<Record<string, 'full' | 'away' | undefined>> = {
  memoryFull: 'full',
  unreachable: 'away',
  loading: 'away',
  clusterDown: 'away',
};

function progressOf(fields: readonly (string | null)[]): JobProgress | undefined {
  const [text, chunks, kept, answered, failed, cancelled] = fields;
  if (text === null) return undefined;
  const description = JSON.parse(text) as JobDescription;
  const isDone = kept === chunks;
  return {
    description,
    state: isDone ? 'done' : cancelled === null ? 'running' : 'cancelled',
    answered: Number(answered),
    failed: Number(failed),
  };
}
