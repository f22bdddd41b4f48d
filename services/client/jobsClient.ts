import type { LaunchClass } from '../../containers/protocol/index.js';
import type { CallOptions } from './clientTypes.js';
import type { HttpCalls } from './httpCalls.js';
import type { Pieces } from './transport.js';

/** A batch job, and how far it is. */
export interface JobAnswer {
  readonly job_id: string;
  readonly application: string;
  readonly launch_class: LaunchClass;
  readonly state: 'running' | 'done' | 'cancelled';
  readonly lines: number;
  /** Lines whose prediction or error is kept. */
  readonly answered: number;
  /** Those of them that have an error. */
  readonly failed: number;
  readonly input_bytes: number;
  readonly created: string;
}

/** What lies where a server keeps a job, and cannot be read. It may be removed. */
export interface UnreadableJob {
  readonly job_id: string;
  readonly reason: string;
}

/** Batch jobs of a server, or of all that share a store. Calls reject with a ClientError. */
export class JobsClient {
  constructor(private readonly calls: HttpCalls) {}

  /** @param input lines of JSON: an input each, or a request with `input`; a call takes as long as it does to send them */
  async create(
    application: string,
    input: string | Pieces,
    options: CallOptions & { readonly launchClass?: LaunchClass | undefined } = {},
  ): Promise<JobAnswer> {
    const { launchClass } = options;
    const query = new URLSearchParams({
      application,
      ...(launchClass === undefined ? {} : { class: launchClass }),
    });
    const request = {
      method: 'POST',
      path: `/jobs?${query.toString()}`,
      body: input,
      type: 'application/x-ndjson',
    } as const;
    return (await this.calls.call(request, options)) as JobAnswer;
  }

  async list(options?: CallOptions): Promise<readonly JobAnswer[]> {
    return (await this.all(options)).jobs;
  }

  /** All jobs, with those that the server cannot read. */
  async all(
    options?: CallOptions,
  ): Promise<{ readonly jobs: readonly JobAnswer[]; readonly unreadable: readonly UnreadableJob[] }> {
    const answer = await this.calls.call({ method: 'GET', path: '/jobs' }, options);
    const { jobs, unreadable = [] } = answer as {
      readonly jobs: readonly JobAnswer[];
      readonly unreadable?: readonly UnreadableJob[];
    };
    return { jobs, unreadable };
  }

  async show(id: string, options?: CallOptions): Promise<JobAnswer> {
    return (await this.calls.call({ method: 'GET', path: jobPath(id) }, options)) as JobAnswer;
  }

  /** Asks no further lines; what is answered stays. */
  async cancel(id: string, options?: CallOptions): Promise<JobAnswer> {
    return (await this.calls.call({ method: 'POST', path: `${jobPath(id)}/cancel` }, options)) as JobAnswer;
  }

  /** Forgets it, with its input and results; also one that cannot be read. */
  async remove(id: string, options?: CallOptions): Promise<JobAnswer | UnreadableJob> {
    const answer = await this.calls.call({ method: 'DELETE', path: jobPath(id) }, options);
    return answer as JobAnswer | UnreadableJob;
  }

  /** Bytes of lines of JSON, in the order of the input's lines. @param follow until the job is over */
  results(id: string, follow = false, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    return this.calls.stream(`${jobPath(id)}/results${follow ? '?follow=true' : ''}`, { signal });
  }
}

function jobPath(id: string): string {
  return `/jobs/${encodeURIComponent(id)}`;
}
