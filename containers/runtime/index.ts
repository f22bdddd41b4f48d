export { BusyMeter, type BusyTimes } from './busyMeter.js';
export { sourceContent } from './sourceContent.js';
export { ConstantContainer } from './constantContainer.js';
export { ContainerRuntime, type ContainerRuntimeOptions } from './containerRuntime.js';
export { InProcessChannel } from './inProcessChannel.js';
export { NetworkChannel } from './networkChannel.js';
export { KernelModelContainer, type KernelModelContainerOptions } from './kernel/index.js';
export type { ContainerOutlet, ContainerSource, ContainerStart, ModelContainer } from './modelContainer.js';
export type { ReplicaIdentity } from './replicaIdentity.js';
export type { GpuActivity } from './gpuActivity.js';
export type { GpuSpan } from './gpuHistory.js';
export type { ContextSample, GpuSample } from './gpuSample.js';
export { gpuStatus, type ContextStatus, type GpuStatus } from './gpuStatus.js';
export { schedulingChoice } from './schedulingChoice.js';
export { VERDICT_LATENCY_BOUNDS_NS } from '../../simulator/idempotency/index.js';
export type { AnalysisReport, VerdictReport } from './verdictReport.js';
export type { KernelModelStart, NodeHost, NodeReport, TimelineSink } from './nodeHost.js';
export {
  DEFAULT_PROCESS_LIMITS,
  environmentRefusal,
  moduleRefusal,
  ProcessHost,
  tryModule,
  type Model,
  type ModelInputs,
  type ModelOutput,
  type ProcessLimits,
  type ProcessSource,
  type ProcessStart,
  type ScoredOutput,
} from './process/index.js';
export { SyntheticContainer, type SyntheticService } from './syntheticContainer.js';
export { GpuNodeThread, type GpuNodeThreadOptions } from './thread/gpuNodeThread.js';
export { VirtualNode, type VirtualNodeOptions } from './virtualNode.js';
export {
  goldenProblem,
  inputBytes,
  tryModel,
  type BatchTrial,
  type ModelTrialOptions,
  type ModelTrialReport,
} from './trial/index.js';
