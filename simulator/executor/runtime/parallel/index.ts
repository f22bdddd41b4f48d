export { ParallelLaunches, type LaunchParts, type ParallelOptions } from './parallelLaunches.js';
