export { ByteCounters, addToCounter } from './byteCounters.js';
export { weighClasses, type InstructionWeights } from './instructionCounts.js';
export { addParted } from './partedPasses.js';
export { PassCounters, passesOf } from './passCounters.js';
