export { KernelModelContainer, type KernelModelContainerOptions } from './kernelModelContainer.js';
