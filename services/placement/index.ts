export {
  ClusterRuntime,
  readNodeRecord,
  type ClusterRuntimeOptions,
  type NodeRecord,
} from './clusterRuntime.js';
export { Placements, type ReplicaPlace } from './placements.js';
