export { Deployer, type DeployerOptions } from './deployer.js';
export { embeddedRuntime, type EmbeddedRuntime, type NodePace } from './embeddedRuntime.js';
export type { BackOff, ContainerStarter, ReplicaStatus } from './replica.js';
