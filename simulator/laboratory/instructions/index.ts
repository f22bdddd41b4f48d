export { bodyFunction, evaluate, operandsOf } from './evaluation.js';
export { allForms, approximatedForms, cellForms, exactForms, vectorRegisterBits } from './forms/index.js';
export type { VectorForm } from './forms/index.js';
export { digestOf, firstCases, readMeasured, samplesOf } from './measured.js';
export { probeModule, threadsPerBlock } from './probe.js';
