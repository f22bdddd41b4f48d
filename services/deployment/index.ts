export { Autoscaler, type AutoscalingSettings, type VersionLoad } from './autoscaling/index.js';
export { containerStart } from './containerStart.js';
export { DialledContainers } from './dialledContainers.js';
export { declareManifestRanges, keepDeclared } from './declaredForms.js';
export { Deployer, type DeployerOptions, type ScaledRegistry } from './deployer.js';
export {
  ANALYSES_FOLDER,
  EmbeddedRuntime,
  type DialledNodes,
  type ServerRuntime,
} from './embeddedRuntime.js';
export { GpuCapacity, type CapacitySources, type ScaleChange } from './gpuCapacity.js';
export type { ContainerStarter, ReplicaLimits, ReplicaState, ReplicaStatus } from './replica.js';
export { ModelLoader, type VersionState } from './modelLoader.js';
export { ServedVersions } from './servedVersions.js';
export { recordTimeline, type TimelineRequest } from './gpuRecording.js';
