import { exchangesLanes, type IrInstruction } from '../../../ptx/index.js';

/** They call the host, for all lanes that come together. */
const hostCalls = new Set(['vprintf', 'assertfail', 'malloc', 'free']);

/** Where an instruction makes threads meet, if it does. */
export function syncScope(instruction: IrInstruction): 'block' | 'warp' | undefined {
  if (exchangesLanes(instruction.opcode) || hostCalls.has(instruction.opcode)) return 'warp';
  if (instruction.opcode === 'bar' || instruction.opcode === 'barrier') {
    return instruction.modifiers.includes('warp') ? 'warp' : 'block';
  }
  return undefined;
}
