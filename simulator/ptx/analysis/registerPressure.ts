import { exchangesLanes, isAtomic, isPlainLoad } from '../isa/index.js';
import type { IrFunction, IrInstruction, IrOperand } from '../ir.js';
import { typeBits } from '../scalarTypes.js';
import { analyzeLiveness } from './liveness.js';
import { readRegisters, writtenRegisters } from './registerUse.js';

/** 32-bit registers that values of a function need at once. */
export interface RegisterPressure {
  /** All values but predicates, which have registers of their own. */
  readonly all: number;
  /**
   * Values that may differ between threads of a block. The others (parameters, block indices and what is computed from
   * them alone) stay in constant memory or in the uniform registers that machines have since sm_75.
   */
  readonly varying: number;
}

/** The highest number of 32-bit values live at one point of the function, in its PTX order. */
export function registerPressure(fn: IrFunction): RegisterPressure {
  const widths = fn.registers.map(({ type }) => (type === 'pred' ? 0 : Math.ceil(typeBits(type) / 32)));
  const varying = varyingRegisters(fn);
  const liveness = analyzeLiveness(fn);
  let most = 0;
  let mostVarying = 0;
  for (const block of fn.blocks) {
    for (const point of liveness.pointsOf(block.index)) {
      let live = 0;
      let liveVarying = 0;
      for (const register of point.members()) {
        live += widths[register] ?? 0;
        if (varying[register] === 1) liveVarying += widths[register] ?? 0;
      }
      most = Math.max(most, live);
      mostVarying = Math.max(mostVarying, liveVarying);
    }
  }
  return { all: most, varying: mostVarying };
}

function readsThread(operand: IrOperand): boolean {
  return operand.kind === 'special' && /^(tid\.|laneid|lanemask|warpid)/.test(operand.name);
}

/** Whether an instruction may give threads of a block different results though its register operands are uniform. */
function isVaryingSource(instruction: IrInstruction): boolean {
  const { opcode } = instruction;
  if (exchangesLanes(opcode) || isAtomic(opcode) || opcode === 'malloc') return true;
  if (isPlainLoad(opcode)) return !instruction.modifiers.some((each) => each === 'param' || each === 'const');
  return instruction.sources.some(readsThread);
}

/**
 * Registers with a write that may differ between threads. Uniform operands under a uniform guard give uniform results,
 * wherever the write stands: a value that only some threads' paths write is counted as uniform, which is good enough
 * for an estimate.
 */
function varyingRegisters(fn: IrFunction): Uint8Array {
  const varying = new Uint8Array(fn.registers.length);
  for (let changed = true; changed;) {
    changed = false;
    for (const instruction of fn.instructions) {
      const spreads =
        isVaryingSource(instruction) ||
        readRegisters(instruction).some((register) => varying[register] === 1);
      if (!spreads) continue;
      for (const register of writtenRegisters(instruction)) {
        if (varying[register] === 1) continue;
        varying[register] = 1;
        changed = true;
      }
    }
  }
  return varying;
}
