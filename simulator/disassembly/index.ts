export { disassemble, disassembleFile } from './disassemble.js';
export { DisassemblyError, type DisassemblyErrorCode } from './disassemblyError.js';
export { disassemblyText } from './disassemblyText.js';
export type * from './disassembly.js';
