import { setTimeout as after } from 'node:timers/promises';
import type { JobAnswer, WindjammerClient } from '../../services/client/index.js';
import { SeededRandom } from '../../simulator/random/index.js';
import { echoTag } from './echoAnswers.js';
import { EmbeddedSite, SharedSite, type KillSite } from './jobKillSites.js';
import { compiled } from './probed.js';

export interface JobKillOptions {
  readonly seed: number;
  /** Moments at which something is killed, over all jobs. */
  readonly moments: number;
  /** Of the first job; each has one more than the one before. */
  readonly lines: number;
  /** Two frontends that share a Redis, and not one server with a data directory. */
  readonly isShared?: boolean;
  readonly onProgress?: (text: string) => void;
}

export interface JobKillResult {
  readonly jobs: number;
  readonly lines: number;
  /** By what was killed. */
  readonly kills: Readonly<Record<string, number>>;
  /** Kills while a job had some of its results, and not all. */
  readonly amid: number;
  /** Jobs that were accepted although the client was not told, or while Redis was away. */
  readonly unacknowledged: number;
  /** Lines without a result. */
  readonly lost: number;
  /** Lines with a second result, or with another one than was shown before. */
  readonly doubled: number;
  /** What was wrong; none if every line of every job has its answer once. */
  readonly violations: readonly string[];
}

/** Of one job, before another begins. */
const KILLS_A_JOB = 10;
/** After it something is killed, at the latest. */
const LONGEST_LIFE_MS = 4000;
const MOST_VIOLATIONS = 20;
/** For what a server does by itself once it is there again. */
const SETTLED_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 100;

const MODEL = 'echo';
const APPLICATION = 'echoes';

/** Kills servers, and their Redis, with SIGKILL at random moments of batch jobs, starts them again, and checks every result. */
export async function jobUnderKills(options: JobKillOptions): Promise<JobKillResult> {
  const random = new SeededRandom(options.seed);
  const site = options.isShared === true ? await SharedSite.start(random) : await EmbeddedSite.start();
  try {
    return await new JobKillRun(options, site, random).run();
  } finally {
    await site.stop();
  }
}

class JobKillRun {
  private readonly violations: string[] = [];
  private readonly kills: Record<string, number> = {};
  private made = 0;
  private amid = 0;
  private lines = 0;
  private unacknowledged = 0;
  private lost = 0;
  private doubled = 0;

  constructor(
    private readonly options: JobKillOptions,
    private readonly site: KillSite,
    private readonly random: SeededRandom,
  ) {}

  async run(): Promise<JobKillResult> {
    await this.register();
    let jobs = 0;
    while (this.made < this.options.moments) {
      await this.job(jobs++);
      this.options.onProgress?.(JSON.stringify(this.result(jobs)));
    }
    return this.result(jobs);
  }

  private result(jobs: number): JobKillResult {
    const { lines, kills, amid, unacknowledged, lost, doubled, violations } = this;
    return { jobs, lines, kills: { ...kills }, amid, unacknowledged, lost, doubled, violations };
  }

  private async register(): Promise<void> {
    const { management } = this.site.client();
    await management.addApplication({
      name: APPLICATION,
      input_type: 'doubles',
      default_output: 'none',
      latency_slo_micros: 10_000_000,
    });
    await management.addModel({
      model_name: MODEL,
      model_version: '1',
      input_type: 'doubles',
      container_name: 'windjammer/process',
      model_data_path: compiled('soak/oddEcho.js'),
    });
    await management.addLinks(APPLICATION, [MODEL]);
    // Every frontend knows it before it is asked.
    await this.settled(() => this.site.client().predict(APPLICATION, new Float64Array([1])));
  }

  private async job(number: number): Promise<void> {
    const most = Math.min(this.made + KILLS_A_JOB, this.options.moments);
    const lines = this.options.lines + number;
    const base = number * 2 * this.options.lines;
    const input = Array.from({ length: lines }, (_, at) => `[${base + at}]\n`).join('');
    let id: string | undefined;
    // Killed in the middle of it, there is a job or there is none; which of both it is told afterwards.
    const creation = created(this.site.client(), input).then((created) => (id = created));
    let seen = '';
    while (this.made < most) {
      // Short lives more often: most happens in the first moments, while the input comes and when work begins.
      await after(this.random.share() ** 2 * LONGEST_LIFE_MS);
      if (id !== undefined && (await this.isOver(id))) break;
      const victim = await this.site.kill();
      this.made += 1;
      this.kills[victim] = (this.kills[victim] ?? 0) + 1;
      if (id !== undefined) seen = await this.look(id, seen);
    }
    await creation;
    id ??= await this.found(lines, input);
    await this.check(id, lines, base, await this.look(id, seen));
    await this.settled(async () => {
      const { jobs } = this.site.client();
      for (const job of await jobs.list()) await jobs.remove(job.job_id);
    });
  }

  /** Where it is not known, it is not over. */
  private async isOver(id: string): Promise<boolean> {
    const job = await this.site
      .client()
      .jobs.show(id, { timeoutMs: 1000 })
      .catch(() => undefined);
    if (job?.state === 'running' && job.answered > 0) this.amid += 1;
    return job?.state === 'done';
  }

  /** What there is so far must begin as what there was. @returns what there is */
  private async look(id: string, seen: string): Promise<string> {
    const { jobs } = this.site.client();
    let now: string;
    try {
      now = await textOf(jobs.results(id));
    } catch {
      // Whoever is asked was killed, or its Redis.
      return seen;
    }
    if (now.startsWith(seen)) return now;
    this.doubled += 1;
    this.violate(`job ${id}: results that were shown are others now`);
    return seen;
  }

  /** The job whose creation was not acknowledged: as it is, or made now. */
  private async found(lines: number, input: string): Promise<string> {
    const find = async () =>
      (await this.site.client().jobs.list()).find((job) => job.lines === lines)?.job_id;
    let id = await this.settled(find);
    if (id !== undefined) this.unacknowledged += 1;
    id ??= await this.settled(async () => (await this.site.client().jobs.create(APPLICATION, input)).job_id);
    return id;
  }

  private async check(id: string, lines: number, base: number, seen: string): Promise<void> {
    const text = await this.settled(async () => {
      const { jobs } = this.site.client();
      const all = await textOf(jobs.results(id, true));
      const job: JobAnswer = await jobs.show(id);
      if (job.state !== 'done') throw new Error(`job ${id} is ${job.state}, ${job.answered} of ${job.lines}`);
      return all;
    });
    if (!text.startsWith(seen)) {
      this.doubled += 1;
      this.violate(`job ${id}: results that were shown are others now`);
    }
    // Every frontend says the same.
    const again = await this.settled(() => textOf(this.site.client().jobs.results(id)));
    if (again !== text) this.violate(`job ${id}: two readers got different results`);
    const results = new Map<number, string>();
    for (const result of text.split('\n').slice(0, -1)) {
      const { line, output } = JSON.parse(result) as { readonly line: number; readonly output?: unknown };
      if (results.has(line)) {
        this.doubled += 1;
        this.violate(`job ${id}: line ${line} has two results`);
      }
      results.set(line, result);
      const [tag, value] = Array.isArray(output) ? (output as unknown[]) : [];
      if (tag !== echoTag(1) || value !== base + line - 1)
        this.violate(`job ${id}: line ${line} got ${result}`);
    }
    for (let line = 1; line <= lines; line++) {
      if (results.has(line)) continue;
      this.lost += 1;
      this.violate(`job ${id}: line ${line} has no result`);
    }
    this.lines += lines;
  }

  /** What a server cannot do just after it, or its Redis, was killed it can soon. */
  private async settled<T>(work: () => Promise<T>): Promise<T> {
    const untilMs = performance.now() + SETTLED_WITHIN_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (performance.now() > untilMs) throw error;
        await after(LOOK_EVERY_MS);
      }
    }
  }

  private violate(text: string): void {
    if (this.violations.length < MOST_VIOLATIONS) this.violations.push(text);
  }
}

/** @returns undefined when the server was gone before it answered */
async function created({ jobs }: WindjammerClient, input: string): Promise<string | undefined> {
  try {
    return (await jobs.create(APPLICATION, input)).job_id;
  } catch {
    return undefined;
  }
}

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts).toString('utf8');
}
