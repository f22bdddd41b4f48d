import { type IrInstruction, isa } from '../../../ptx/index.js';

/** Where an instruction makes threads meet, if it does. */
export function syncScope(instruction: IrInstruction): 'block' | 'warp' | undefined {
  const { meets } = isa(instruction.opcode).effects;
  return meets === 'block' && instruction.modifiers.includes('warp') ? 'warp' : meets;
}
