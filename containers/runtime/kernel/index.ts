export type { HostTurn } from './inputEncoding.js';
export { KernelModelContainer, type KernelModelContainerOptions } from './kernelModelContainer.js';
