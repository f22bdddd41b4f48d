export { printBlocks, printFunction, type PrintedBlock } from './functionText.js';
export { printInstruction, type InstructionLines } from './instructionText.js';
export { printModule } from './moduleText.js';
