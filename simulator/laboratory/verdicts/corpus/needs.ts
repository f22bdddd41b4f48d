import {
  analyzeLoops,
  type IrFunction,
  type IrInstruction,
  isa,
  isAccess,
  isBranch,
  isPlainLoad,
  readRegisters,
  writtenRegisters,
} from '../../../ptx/index.js';

/** What a validator has to know more than arguments for. */
export interface KernelNeeds {
  /** Some address of global memory is made from a value that was loaded. */
  readonly address: boolean;
  /** Some condition on the way to an access is. */
  readonly condition: boolean;
  /** How often a loop runs depends on one. */
  readonly loop: boolean;
}

/**
 * What a lowered kernel's addresses, conditions and loops depend on: registers that values from memory flow into, whatever
 * the order. A classification of the corpus; no proof rests on it.
 */
export function kernelNeeds(kernel: IrFunction): KernelNeeds {
  const tainted = taintedRegisters(kernel);
  const isTainted = (registers: Iterable<number>): boolean =>
    [...registers].some((each) => tainted.has(each));
  const accesses = kernel.instructions.filter(isGlobalAccess);
  const { loops } = analyzeLoops(kernel);
  const loop = loops.some(({ blocks }) =>
    [...blocks].some((index) => {
      const block = kernel.blocks[index];
      if (block === undefined || !block.successors.some((next) => ![...blocks].includes(next))) return false;
      const last = kernel.instructions[block.last];
      return last?.guard !== undefined && tainted.has(last.guard.register);
    }),
  );
  const branches = kernel.instructions.filter(({ opcode, guard }) => isBranch(opcode) && guard !== undefined);
  return {
    address: accesses.some((each) => isTainted(addressRegisters(each))),
    condition: [...branches, ...accesses].some(
      ({ guard }) => guard !== undefined && tainted.has(guard.register),
    ),
    loop,
  };
}

function taintedRegisters(kernel: IrFunction): ReadonlySet<number> {
  const tainted = new Set<number>();
  for (let before = -1; before !== tainted.size;) {
    before = tainted.size;
    for (const instruction of kernel.instructions) {
      const isSource = dependsOnOthers(instruction.opcode) && !isKnownLoad(instruction);
      if (!isSource && ![...readRegisters(instruction)].some((each) => tainted.has(each))) continue;
      for (const register of writtenRegisters(instruction)) tainted.add(register);
    }
  }
  return tainted;
}

/** Whether a result depends on memory or on other threads. */
function dependsOnOthers(opcode: string): boolean {
  const { kind, reads } = isa(opcode).effects;
  return kind === 'exchange' || (reads !== undefined && kind !== 'host');
}

/** Arguments and constants are known at launch. */
function isKnownLoad({ opcode, modifiers }: IrInstruction): boolean {
  return isPlainLoad(opcode) && (modifiers.includes('param') || modifiers.includes('const'));
}

function isGlobalAccess({ opcode, modifiers }: IrInstruction): boolean {
  if (!isAccess(opcode)) return false;
  return !modifiers.some((each) => /^(?:param|const|shared|local)/.test(each));
}

function addressRegisters({ sources }: IrInstruction): readonly number[] {
  const [place] = sources;
  return place?.kind === 'address' && typeof place.base === 'number' ? [place.base] : [];
}
