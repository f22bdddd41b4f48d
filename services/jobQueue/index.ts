export {
  openJobQueue,
  type JobQueueSettings,
  type SharedJobs,
  type SharedJobsMaker,
  type SharedJobsOptions,
} from './openJobQueue.js';
export { JobConnections } from './jobConnections.js';
export { LoadExchange, type OwnLoad } from './loadExchange.js';
export { SharedLedger, type SharedLedgerOptions } from './sharedLedger.js';
