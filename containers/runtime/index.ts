export {
  ClipperServer,
  Complaints,
  DEFAULT_CLIPPER_LIMITS,
  type ClipperLimits,
  type DialledContainer,
} from './clipper/index.js';
export { sourceContent, sourceFiles } from './sourceContent.js';
export { ContainerRuntime, type ContainerRuntimeOptions } from './containerRuntime.js';
export { NO_NEEDS } from './needsOfModels.js';
export { laterChannel, type LaterChannel } from './laterChannel.js';
export { onGpu } from './nodeHost.js';
export type { ContainerSource, ContainerStart } from './modelContainer.js';
export type { GpuActivity } from './gpuActivity.js';
export type { ContextStatus, GpuStatus } from './gpuStatus.js';
export { numberedGpus, type NumberedGpu } from './numberedGpus.js';
export { schedulingChoice } from './schedulingChoice.js';
export { VERDICT_LATENCY_BOUNDS_NS } from '../../simulator/idempotency/index.js';
export type { AnalysisReport, VerdictReport } from './verdictReport.js';
export type { NodeHost, NodeReport } from './nodeHost.js';
export {
  gpuName,
  gpuNames,
  listed,
  placeReplica,
  withoutHolders,
  withReplica,
  type GpuRoom,
  type NodeRoom,
  type WantedReplica,
} from './placement/index.js';
export {
  environmentRefusal,
  sourceRefusal,
  tryModule,
  type OwnProcessSource,
  type ProcessNeeds,
} from './process/index.js';
export { GpuNodeThread, type GpuNodeThreadOptions } from './thread/gpuNodeThread.js';
export {
  addressText,
  LinkError,
  NodeServer,
  readClusterKey,
  readNodeAddress,
  RemoteNode,
  type NodeLink,
  type LinkErrorCode,
  type NodeAddress,
  type NodeSecurity,
  type NodeServerOptions,
  type RemoteNodeOptions,
} from './remote/index.js';
export {
  fittingReplicas,
  goldenProblem,
  inputBytes,
  tryModel,
  type GpuShare,
  type ModelTrialReport,
} from './trial/index.js';
