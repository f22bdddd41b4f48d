import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobAnswer, WindjammerClient } from '../../services/client/index.js';
import { SeededRandom } from '../../simulator/random/index.js';
import { echoTag } from './echoAnswers.js';
import { ServedProcess } from '../../services/tests/servedProcess.js';
import { compiled } from './probed.js';

export interface JobKillOptions {
  readonly seed: number;
  /** Moments at which the server is killed, over all jobs. */
  readonly moments: number;
  /** Of each job. */
  readonly lines: number;
  readonly onProgress?: (text: string) => void;
}

export interface JobKillResult {
  readonly jobs: number;
  readonly kills: number;
  /** Kills while a job had some of its results, and not all. */
  readonly amid: number;
  /** What was wrong; none if every line of every job has its answer once. */
  readonly violations: readonly string[];
}

/** Of one job, before another begins. */
const KILLS_A_JOB = 10;
/** After it the server is killed, at the latest. */
const LONGEST_LIFE_MS = 1500;
const MOST_VIOLATIONS = 20;

const MODEL = 'echo';
const APPLICATION = 'echoes';

/** Kills a server with SIGKILL at random moments of batch jobs, starts it again on what it left, and checks every result. */
export async function jobUnderKills(options: JobKillOptions): Promise<JobKillResult> {
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-job-kills-'));
  const run = new JobKillRun(options, folder);
  try {
    return await run.run();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

class JobKillRun {
  private readonly random: SeededRandom;
  private readonly violations: string[] = [];
  private kills = 0;
  private amid = 0;

  constructor(
    private readonly options: JobKillOptions,
    private readonly folder: string,
  ) {
    this.random = new SeededRandom(options.seed);
  }

  async run(): Promise<JobKillResult> {
    await this.register();
    let jobs = 0;
    while (this.kills < this.options.moments) {
      await this.job(jobs++);
      this.options.onProgress?.(
        `${jobs} jobs, ${this.kills} kills, ${this.amid} of them amid results, ${this.violations.length} violations`,
      );
    }
    const { kills, amid, violations } = this;
    return { jobs, kills, amid, violations };
  }

  private async register(): Promise<void> {
    const server = await this.start();
    const { management } = server.client();
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
    await server.end('SIGKILL');
  }

  private async job(number: number): Promise<void> {
    const most = Math.min(this.kills + KILLS_A_JOB, this.options.moments);
    const base = number * this.options.lines;
    const input = Array.from({ length: this.options.lines }, (_, at) => `[${base + at}]\n`).join('');
    let id: string | undefined;
    while (this.kills < most) {
      const server = await this.start();
      const lifeMs = this.random.share() * LONGEST_LIFE_MS;
      const end = new Promise((resolve) => setTimeout(resolve, lifeMs)).then(() => server.end('SIGKILL'));
      // Killed in the middle of it, there is a job or there is none; which of both it is told afterwards.
      if (id === undefined) id = await created(server.client(), input);
      else await this.countAmid(server.client(), id);
      await end;
      this.kills += 1;
    }
    const server = await this.start();
    try {
      id ??= await this.found(server.client(), input);
      await this.countAmid(server.client(), id);
      await this.check(server.client(), id, base);
      for (const job of await server.client().jobs.list()) await server.client().jobs.remove(job.job_id);
    } finally {
      await server.end('SIGKILL');
    }
  }

  private async countAmid(client: WindjammerClient, id: string): Promise<void> {
    const job = await client.jobs.show(id).catch(() => undefined);
    if (job?.state === 'running' && job.answered > 0) this.amid += 1;
  }

  /** The job whose creation was not acknowledged: as it is, or made now. */
  private async found(client: WindjammerClient, input: string): Promise<string> {
    const jobs = await client.jobs.list();
    const whole = jobs.find(({ lines }) => lines === this.options.lines);
    const parts = jobs.filter(({ lines }) => lines !== this.options.lines);
    for (const { job_id: id, lines } of parts)
      this.violate(`job ${id} has ${lines} lines: its input broke off`);
    return whole?.job_id ?? (await client.jobs.create(APPLICATION, input)).job_id;
  }

  private async check(client: WindjammerClient, id: string, base: number): Promise<void> {
    const pieces: Uint8Array[] = [];
    for await (const piece of client.jobs.results(id, true)) pieces.push(piece);
    const results = Buffer.concat(pieces).toString('utf8').split('\n').slice(0, -1);
    const job: JobAnswer = await client.jobs.show(id);
    if (job.state !== 'done') this.violate(`job ${id} is ${job.state}`);
    if (results.length !== this.options.lines) this.violate(`job ${id} has ${results.length} results`);
    for (const [at, text] of results.entries()) {
      const { line, output } = JSON.parse(text) as { readonly line: number; readonly output?: unknown };
      if (line !== at + 1) this.violate(`job ${id}: result ${at + 1} is of line ${line}`);
      const [tag, value] = Array.isArray(output) ? (output as unknown[]) : [];
      if (tag !== echoTag(1) || value !== base + at) this.violate(`job ${id}: line ${at + 1} got ${text}`);
    }
  }

  /** On what the one before has left. */
  private start(): Promise<ServedProcess> {
    return ServedProcess.start(['--data-dir', this.folder, '--no-defaults']);
  }

  private violate(text: string): void {
    if (this.violations.length < MOST_VIOLATIONS) this.violations.push(text);
  }
}

/** @returns undefined when the server was gone before it answered */
async function created(client: WindjammerClient, input: string): Promise<string | undefined> {
  try {
    return (await client.jobs.create(APPLICATION, input)).job_id;
  } catch {
    return undefined;
  }
}
