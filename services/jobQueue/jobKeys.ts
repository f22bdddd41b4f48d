/** Names of everything that is kept of jobs in Redis, below the prefix of its installation. */
export interface JobKeys {
  /** Ids by their creation. */
  readonly all: string;
  readonly running: string;
  readonly cancelled: string;
  /** Ids of jobs that are not whole, by the time when they are given up. */
  readonly uploads: string;
  /** Bytes of each job's input and results. */
  readonly sizes: string;
  readonly total: string;
  /** What frontends say of their load. */
  readonly loads: string;
  readonly job: (id: string) => string;
  /** Chunks without results, by their number. */
  readonly input: (id: string) => string;
  readonly results: (id: string) => string;
  /** There for a job that was removed while its frontend might still have it. */
  readonly gone: (id: string) => string;
}

/** @param prefix as of `keyPrefix` */
export function jobKeys(prefix: string): JobKeys {
  const key = (...parts: readonly string[]) => [prefix, 'jobs', ...parts].join(':');
  return {
    all: key('all'),
    running: key('running'),
    cancelled: key('cancelled'),
    uploads: key('uploads'),
    sizes: key('sizes'),
    total: key('total'),
    loads: key('loads'),
    job: (id) => key('job', id),
    input: (id) => key('input', id),
    results: (id) => key('results', id),
    gone: (id) => key('gone', id),
  };
}
