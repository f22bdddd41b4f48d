export { Deployer, type DeployerOptions } from './deployer.js';
export type { BackOff, ContainerStarter, ReplicaStatus } from './replica.js';
