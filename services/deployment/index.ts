export { Deployer, type DeployerOptions } from './deployer.js';
export { EmbeddedRuntime, type NodePace } from './embeddedRuntime.js';
export type { BackOff, ContainerStarter, ReplicaStatus } from './replica.js';
