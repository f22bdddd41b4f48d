export { runBatchJob, type BatchJobOptions, type BatchJobResult, type BatchProgress } from './batchJob.js';
export { BatchJobError, type BatchJobErrorCode } from './batchJobError.js';
