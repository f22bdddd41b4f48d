export { sourceContent, sourceFiles } from './sourceContent.js';
export { ContainerRuntime, type ContainerRuntimeOptions } from './containerRuntime.js';
export type { ContainerSource } from './modelContainer.js';
export type { GpuActivity } from './gpuActivity.js';
export { gpuStatus, type ContextStatus, type GpuStatus } from './gpuStatus.js';
export { schedulingChoice } from './schedulingChoice.js';
export { VERDICT_LATENCY_BOUNDS_NS } from '../../simulator/idempotency/index.js';
export type { AnalysisReport, VerdictReport } from './verdictReport.js';
export type { NodeHost, NodeReport } from './nodeHost.js';
export { environmentRefusal, moduleRefusal, tryModule, type ProcessSource } from './process/index.js';
export { GpuNodeThread, type GpuNodeThreadOptions } from './thread/gpuNodeThread.js';
export {
  LinkError,
  NodeServer,
  readClusterKey,
  readNodeAddress,
  RemoteNode,
  type LinkErrorCode,
  type NodeAddress,
  type NodeSecurity,
  type NodeServerOptions,
  type RemoteNodeOptions,
} from './remote/index.js';
export { goldenProblem, inputBytes, tryModel, type ModelTrialReport } from './trial/index.js';
