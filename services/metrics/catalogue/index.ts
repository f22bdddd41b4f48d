import {
  DCGM_METRICS,
  FAULT_METRICS,
  GPU_ROOM_METRICS,
  PREEMPTION_METRICS,
  VERDICT_METRICS,
} from './gpus.js';
import {
  CLUSTER_METRICS,
  CONNECTION_METRICS,
  FEEDBACK_QUEUE_METRICS,
  JOB_METRICS,
  SHARED_STORE_METRICS,
  STORE_METRICS,
} from './operation.js';
import type { PROCESS_METRICS } from './process.js';
import {
  CACHE_METRICS,
  CONTEXT_METRICS,
  DEPLOYMENT_METRICS,
  MODEL_METRICS,
  POLICY_FILE_METRICS,
  QUERY_METRICS,
} from './serving.js';

export * from './gpus.js';
export * from './operation.js';
export * from './serving.js';

/** Every metric of a server; those of the process come from their library. */
export const METRICS = {
  ...QUERY_METRICS,
  ...POLICY_FILE_METRICS,
  ...MODEL_METRICS,
  ...CONTEXT_METRICS,
  ...CACHE_METRICS,
  ...DEPLOYMENT_METRICS,
  ...GPU_ROOM_METRICS,
  ...FAULT_METRICS,
  ...DCGM_METRICS,
  ...PREEMPTION_METRICS,
  ...VERDICT_METRICS,
  ...CONNECTION_METRICS,
  ...STORE_METRICS,
  ...SHARED_STORE_METRICS,
  ...FEEDBACK_QUEUE_METRICS,
  ...CLUSTER_METRICS,
  ...JOB_METRICS,
} as const;

/** What can be asked for. */
export type Metrics = typeof METRICS & typeof PROCESS_METRICS;
export type MetricName = keyof Metrics;
