export { FileLedger } from './fileLedger.js';
export {
  byAge,
  HANDED_OUT,
  JOB_STATES,
  type ChunkResults,
  type JobChunk,
  type JobCounts,
  type JobDescription,
  type JobLedger,
  type JobProgress,
  type JobState,
  type UnreadableJob,
} from './job.js';
export { chunkOf } from './jobChunks.js';
export { JobError, noRoom, unknownJob } from './jobError.js';
export { jobRoutes } from './jobRoutes.js';
export { Jobs, type JobsOptions, type JobsState } from './jobs.js';
export { JOB_OPERATIONS } from './operations.js';
export { interactiveLoad, othersLoad, type LoadElsewhere } from './othersLoad.js';
