/** A second door, for `simulator/laboratory` and tests alone: what other ways of judging the same launches are made of. */
export { accessSlots } from '../validator/accessSlots.js';
export { number } from '../validator/asmText.js';
export { generatedFunction } from '../validator/generatedFunction.js';
export { foreignOf, IntervalCode } from '../validator/intervalCode.js';
export { bitsOf, floored, truncated } from '../validator/intervalRuntime.js';
export type { LaunchHeap } from '../validator/launchHeap.js';
export { NodeCode } from '../validator/nodeCode.js';
export { variablesOfNodes } from '../validator/nodeGraph.js';
export { IntervalBuffer } from '../validator/overlap.js';
