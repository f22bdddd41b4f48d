import type { LaunchClass } from '../../containers/protocol/index.js';

/** Lines of a job that are answered together, and kept in one step. */
export const CHUNK_LINES = 128;
/** A chunk with so many bytes is full, too. */
export const CHUNK_BYTES = 256 * 1024;
/** Of one line: as much as the body of a query. */
export const MOST_LINE_BYTES = 16 * 1024 * 1024;

/** Chunks that a process works on at a time. */
export const HANDED_OUT = 8;

/** What a job is, from its creation on. */
export interface JobDescription {
  readonly id: string;
  readonly application: string;
  /** Of its queries' kernels, unless a line says otherwise. */
  readonly launchClass: LaunchClass;
  /** Lines that ask for something; blank ones are none. */
  readonly lines: number;
  readonly chunks: number;
  readonly inputBytes: number;
  /** Milliseconds since 1970. */
  readonly createdMs: number;
}

export const JOB_STATES = ['running', 'done', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** How far a job is. */
export interface JobProgress {
  readonly description: JobDescription;
  readonly state: JobState;
  /** Lines whose answer or error is kept. */
  readonly answered: number;
  /** Those of them that have an error. */
  readonly failed: number;
}

/** Some lines of a job, one behind the other. */
export interface JobChunk {
  /** The number of the first line, from 1; blank lines counted. */
  readonly firstLine: number;
  /** A blank line is ''. */
  readonly lines: readonly string[];
}

/** The answers to a chunk: a line of JSON each. */
export interface ChunkResults {
  readonly text: string;
  readonly answered: number;
  readonly failed: number;
}

/** What lies where a job belongs and cannot be read; it is not worked on, and may be removed. */
export interface UnreadableJob {
  readonly id: string;
  readonly reason: string;
}

/** How much there is, as it was seen last. */
export interface JobCounts {
  readonly jobs: Readonly<Record<JobState, number>>;
  /** Accepted by this process, and on their way to where all processes see them. */
  readonly spooled: number;
  readonly unreadable: number;
  /** Of running jobs, without an answer. */
  readonly linesPending: number;
  /** The longest time for which a running job has got no results. */
  readonly lagSeconds: number;
}

/**
 * Where jobs are kept. Everything that a method has resolved with lasts; every method may reject with a JobError.
 * A chunk's results are kept once, whoever brings them how often.
 */
export interface JobLedger {
  /** Keeps all of the input, then the job. Nothing stays of an input that breaks off. */
  create(
    of: Pick<JobDescription, 'application' | 'launchClass'>,
    chunks: AsyncIterable<JobChunk>,
  ): Promise<JobDescription>;
  /** In the order of their creation. */
  list(): Promise<readonly JobProgress[]>;
  unreadable(): readonly UnreadableJob[];
  progress(id: string): Promise<JobProgress | undefined>;
  /** The lines of a chunk; undefined where it has its results, or nobody will ask for them. */
  chunk(id: string, index: number): Promise<JobChunk | undefined>;
  /** @returns whether they were kept: false where the chunk has its results, or the job is gone or cancelled */
  keep(id: string, index: number, results: ChunkResults): Promise<boolean>;
  /** The text of a chunk's results; undefined: not there yet. */
  results(id: string, index: number): Promise<string | undefined>;
  cancel(id: string): Promise<void>;
  /** With its input and results; also one that cannot be read. */
  remove(id: string): Promise<void>;
  /** Chunks without results of running jobs are handed out, each to one at a time, and again what comes to nothing, until `stop`. */
  work(take: (id: string, index: number) => Promise<void>): void;
  counts(): JobCounts;
  stop(): Promise<void>;
}

export function byAge(a: JobProgress, b: JobProgress): number {
  return a.description.createdMs - b.description.createdMs || (a.description.id < b.description.id ? -1 : 1);
}
