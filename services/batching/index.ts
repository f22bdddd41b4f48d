export { ClassQueue, DEFAULT_CLASS, isAbove } from './classQueue.js';
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
export { DEFAULT_HANG_LIMITS, type HangLimits } from './hangWatchdog.js';
export { NORMAL_PRIORITY, PRIORITIES } from './priorityQueue.js';
export type { ReplicaLoss, ReplicaQueueOptions } from './queueOptions.js';
export { ReplicaQueue } from './replicaQueue.js';
export type { BatchTrace, TracedItem } from './batchTrace.js';
export type { BatchRecord, BatchingObserver, ReplicaStatus } from './batchRecord.js';
