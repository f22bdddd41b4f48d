export { printFunction } from './functionText.js';
export { printInstruction } from './instructionText.js';
export { printModule } from './moduleText.js';
