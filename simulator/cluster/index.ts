export { ClusterError, type ClusterErrorCode } from './clusterError.js';
export {
  GpuNode,
  type Fidelity,
  type GpuNodeOptions,
  type GpuNodeSnapshot,
  type NodeObserver,
} from './gpuNode.js';
export type { ContextReading, GpuReading } from './gpuReading.js';
export { PreparationsSent, type NodePreparation } from './nodePreparation.js';
export { DEFAULT_TOPOLOGY, type NodeTopology } from './topology.js';
export {
  HostNetwork,
  wireBytes,
  type HostLine,
  type HostNetworkOptions,
  type LineReceiver,
} from './hostNetwork.js';
