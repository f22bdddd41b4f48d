import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobsView } from './dashboard/index.js';
import type { EmbeddedOptions } from './embeddedOptions.js';
import type { Complaint } from './errors/index.js';
import type { LineQueries } from './frontend/index.js';
import type { SharedJobs } from './jobQueue/index.js';
import {
  FileLedger,
  interactiveLoad,
  Jobs,
  othersLoad,
  type JobLedger,
  type JobsState,
} from './jobs/index.js';
import type { PredictionEngine } from './prediction/index.js';
import type { Registry } from './registry/index.js';

/** Of the data directory, where batch jobs are kept, or are on their way. */
const JOBS_FOLDER = 'jobs';

const DEFAULT_JOBS_BYTES = 4 * 2 ** 30;

/** Where batch jobs are, of this server alone or of all that share a store. */
export interface OpenJobs {
  readonly ledger: JobLedger;
  readonly loads?: SharedJobs['loads'];
}

/**
 * Without a data directory jobs end with the process, as everything does; those that are shared go through a folder, too.
 * @throws JobError, RedisError (as rejections)
 */
export async function openJobs(
  { dataDirectory, jobsBytes = DEFAULT_JOBS_BYTES, openJobQueue, complain }: EmbeddedOptions,
  frontend: string,
): Promise<OpenJobs> {
  const maker = await openJobQueue?.();
  const isTemporary = dataDirectory === undefined;
  const folder = isTemporary
    ? mkdtempSync(join(tmpdir(), 'windjammer-jobs-'))
    : join(dataDirectory, JOBS_FOLDER);
  if (maker !== undefined)
    return maker.make({ folder, isTemporary, frontend, mostBytes: jobsBytes, complain });
  return { ledger: await FileLedger.open(folder, jobsBytes, isTemporary) };
}

/** On the dashboard. */
const MOST_SHOWN_JOBS = 20;

export interface ServerJobsOptions {
  readonly registry: Registry;
  readonly engine: PredictionEngine;
  readonly lineQueries: LineQueries;
  /** Other servers ask the same replicas: lines leave room to the queries of all. */
  readonly areModelsShared: boolean;
  readonly complain: Complaint;
}

/** Answers batch jobs with the models of this server. */
export class ServerJobs {
  private readonly jobs: Jobs;
  private readonly loads: SharedJobs['loads'] | undefined;

  constructor({ ledger, loads }: OpenJobs, options: ServerJobsOptions) {
    const { registry, engine, lineQueries, complain } = options;
    this.loads = options.areModelsShared ? loads : undefined;
    this.jobs = new Jobs({
      ledger,
      ask: (...query) => lineQueries.ask(...query),
      others: othersLoad(
        registry,
        (name) => engine.load(name),
        (name) => lineQueries.load(name),
        this.loads,
      ),
      complain,
    });
    this.loads?.start({
      applications: () => registry.applications().map(({ name }) => name),
      interactive: (name) => interactiveLoad(engine.load(name), lineQueries.load(name)),
      asking: () => this.jobs.asking(),
    });
  }

  state(): JobsState {
    return this.jobs.state();
  }

  /**
   * As the dashboard shows them: those that run first, then the newest. undefined: there are none.
   * @throws JobError, RedisError (as rejections)
   */
  async view(): Promise<JobsView | undefined> {
    const { jobs, spooled, unreadable, linesPending, lagSeconds } = this.state();
    if (jobs.running + jobs.done + jobs.cancelled + spooled + unreadable === 0) return undefined;
    const isOver = ({ state }: { readonly state: string }): number => Number(state !== 'running');
    const shown = (await this.jobs.ledger.list())
      .map(({ description: { id, application, lines, createdMs }, state, answered, failed }) => {
        return { id, application, state, lines, answered, failed, createdMs };
      })
      .sort((a, b) => isOver(a) - isOver(b) || b.createdMs - a.createdMs);
    return { ...jobs, linesPending, lagSeconds, spooled, unreadable, shown: shown.slice(0, MOST_SHOWN_JOBS) };
  }

  /** What is kept stays, what is not is asked again at the next start, or by others. */
  async stop(): Promise<void> {
    this.loads?.stop();
    await this.jobs.stop();
  }
}
