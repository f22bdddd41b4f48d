export { ClusterError, type ClusterErrorCode } from './clusterError.js';
export { GpuNode, type GpuNodeOptions, type GpuNodeSnapshot } from './gpuNode.js';
export { DEFAULT_TOPOLOGY, type NodeTopology } from './topology.js';
export {
  HostNetwork,
  wireBytes,
  type HostLine,
  type HostNetworkOptions,
  type LineReceiver,
} from './hostNetwork.js';
