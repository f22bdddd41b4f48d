import type { IrFunction, IrInstruction } from '../../../ptx/index.js';

/**
 * Loads of shared memory that share an interval between barriers with a store of it, before or after them: another thread's
 * store may or may not have happened, so that two runs may read different values.
 */
export function racingLoads(fn: IrFunction): ReadonlySet<number> {
  const forward = reachedBy(fn, false);
  const backward = reachedBy(fn, true);
  const found = new Set<number>();
  for (const { index } of fn.instructions.filter(loadsShared)) {
    if (forward[index] === 1 || backward[index] === 1) found.add(index);
  }
  return found;
}

function isShared({ modifiers }: IrInstruction): boolean {
  return modifiers.some((each) => each.startsWith('shared'));
}

/** Accesses without a space may be to shared memory. */
function isGeneric({ modifiers }: IrInstruction): boolean {
  return !modifiers.some((each) => /^(global|shared|local|param|const)/.test(each));
}

function loadsShared(instruction: IrInstruction): boolean {
  return instruction.opcode === 'ld' && (isShared(instruction) || isGeneric(instruction));
}

function storesShared(instruction: IrInstruction): boolean {
  const { opcode } = instruction;
  return (
    (opcode === 'st' && (isShared(instruction) || isGeneric(instruction))) ||
    (/^(atom|red|cp)$/.test(opcode) && isShared(instruction))
  );
}

/** A barrier of the whole block: one with a number of threads may leave out the ones that store. */
function isBarrier({ opcode, modifiers, sources }: IrInstruction): boolean {
  const isOfBlock = sources.length === (modifiers.includes('red') ? 2 : 1);
  return (
    (opcode === 'bar' || opcode === 'barrier') &&
    isOfBlock &&
    !modifiers.includes('arrive') &&
    !modifiers.includes('warp')
  );
}

/** Whether a store of shared memory may come before each instruction (or behind it) without a barrier between. */
function reachedBy(fn: IrFunction, isBackward: boolean): Uint8Array {
  const at = new Uint8Array(fn.instructions.length);
  const blockEnd = new Uint8Array(fn.blocks.length);
  for (let changed = true; changed;) {
    changed = false;
    for (const block of fn.blocks) {
      const before = isBackward ? block.successors : block.predecessors;
      let open: 0 | 1 = before.some((each) => blockEnd[each] === 1) ? 1 : 0;
      for (let step = 0; step <= block.last - block.first; step++) {
        const index = isBackward ? block.last - step : block.first + step;
        const instruction = fn.instructions[index];
        if (instruction === undefined) continue;
        at[index] = open;
        if (storesShared(instruction)) open = 1;
        else if (isBarrier(instruction)) open = 0;
      }
      if (blockEnd[block.index] === open) continue;
      blockEnd[block.index] = open;
      changed = true;
    }
  }
  return at;
}
