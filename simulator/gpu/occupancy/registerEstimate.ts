import { analyzeLiveness, typeBits, type IrFunction } from '../../ptx/index.js';

/** The machine takes some registers for itself: the stack pointer, a zero pair, addresses under construction. */
const OWN_REGISTERS = 8;
/** The assembler hoists loads of unrolled loops, which lengthens lifetimes beyond those of the PTX order. */
const SCHEDULING_GROWTH = 1.15;
const LEAST = 16;
const UNIT = 8;

/**
 * Registers a thread, estimated: PTX registers are virtual, so the count is the highest number of 32-bit values live
 * at once, with an allowance for what the assembler adds. `.maxnreg` caps it as it caps the assembler.
 */
export function estimateRegisters(kernel: IrFunction): number {
  const widths = kernel.registers.map((register) => {
    if (register.type === 'pred') return 0;
    return Math.ceil(typeBits(register.type) / 32);
  });
  const liveness = analyzeLiveness(kernel);
  let most = 0;
  for (const block of kernel.blocks) {
    for (const point of liveness.pointsOf(block.index)) {
      let live = 0;
      for (let register = 0; register < widths.length; register++) {
        if (point.has(register)) live += widths[register];
      }
      most = Math.max(most, live);
    }
  }
  const estimate = Math.max(LEAST, Math.ceil((most * SCHEDULING_GROWTH + OWN_REGISTERS) / UNIT) * UNIT);
  const cap = kernel.directives['maxnreg']?.[0];
  return cap === undefined ? estimate : Math.min(estimate, cap);
}
