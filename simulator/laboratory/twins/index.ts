export { AccessBench, type AccessOutcome } from './accessBench.js';
export { runVectorTwin, vectorBody, type TwinOptions } from './vectorTwin.js';
