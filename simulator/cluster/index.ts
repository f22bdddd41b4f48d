export { ClusterError, type ClusterErrorCode } from './clusterError.js';
export { GpuNode, type GpuNodeSnapshot, type NodeObserver } from './gpuNode.js';
export type { FaultSettings, Fidelity, GpuNodeOptions } from './nodeOptions.js';
export type { ContextReading, GpuReading } from './gpuReading.js';
export { PreparationsSent, type NodePreparation } from './nodePreparation.js';
export type { KernelAnalyst, UnknownKernel } from './nodeVerdicts.js';
export { DEFAULT_TOPOLOGY, type NodeTopology } from './topology.js';
export {
  HostNetwork,
  wireBytes,
  type HostLine,
  type HostNetworkOptions,
  type LineReceiver,
} from './hostNetwork.js';
