export { DeadlineHeap, type HeapItem } from './deadlineHeap.js';
export {
  AimdController,
  FixedController,
  type AimdOptions,
  type BatchSample,
  type BatchSizeController,
} from './batchSize.js';
export { controllerFor } from './controllerFor.js';
export { QuantileController, type QuantileOptions } from './quantileController.js';
export { Evaluation, type EvaluationState } from './evaluation.js';
export { ReplicaGroup, BATCHING_DEFAULTS, type BatchingOptions } from './replicaGroup.js';
export { ReplicaQueue, type ReplicaQueueOptions } from './replicaQueue.js';
export type { BatchTrace } from './batchTrace.js';
export type { BatchRecord, BatchingObserver, ReplicaStatus } from './batchRecord.js';
