import type { IrFunction } from '../../ptx/index.js';

/** Whether a lowered kernel may allocate or give back device memory. */
export function usesHeap(kernel: IrFunction): boolean {
  return kernel.instructions.some(({ opcode }) => opcode === 'malloc' || opcode === 'free');
}
