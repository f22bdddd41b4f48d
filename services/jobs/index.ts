export { FileLedger } from './fileLedger.js';
export type { JobDescription, JobLedger, JobProgress } from './job.js';
export { JobError } from './jobError.js';
export { jobRoutes } from './jobRoutes.js';
export { Jobs, type JobsOptions } from './jobs.js';
export { JOB_OPERATIONS } from './operations.js';
export { othersLoad } from './othersLoad.js';
