export { counterOperations, type FuzzCase } from './fuzzCase.js';
export { generateKernel, type FuzzOptions } from './generateKernel.js';
export { describeCase, FuzzBench } from './fuzzBench.js';
export { differences } from './differential.js';
export { shrinkCase } from './shrinkCase.js';
