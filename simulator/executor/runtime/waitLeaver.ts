import { isBranch } from '../../ptx/index.js';
import { findSpinLoops } from '../compiler/index.js';
import type { BranchSteer } from '../interpreter/index.js';
import type { IrFunction } from '../../ptx/index.js';

/** Looks after which what a block waits for counts as come. */
const LOOKS = 2;

/**
 * Of blocks that are traced one by one: where one waits for another, which is not there, it goes on after its second look.
 * @returns undefined for kernels that wait for no other block
 */
export function waitLeaver(kernel: IrFunction): BranchSteer | undefined {
  const exits = exitsOf(kernel);
  if (exits.size === 0) return undefined;
  const looks = new WeakMap<object, Int32Array>();
  return (warp, pc, lanes, active) => {
    const exit = exits.get(pc);
    if (exit === undefined) return active;
    let seen = looks.get(warp);
    if (seen === undefined) looks.set(warp, (seen = new Int32Array(kernel.instructions.length)));
    const staying = exit.isTaken ? lanes & ~active : active;
    if (staying === 0) {
      seen[exit.loop] = 0;
      return active;
    }
    seen[exit.loop] += 1;
    if (seen[exit.loop] < LOOKS) return active;
    seen[exit.loop] = 0;
    return exit.isTaken ? lanes : 0;
  };
}

interface Exit {
  /** First basic block of its loop. */
  readonly loop: number;
  /** Whether the branch leaves the loop when it is taken. */
  readonly isTaken: boolean;
}

/** Branches out of waiting loops. */
function exitsOf(kernel: IrFunction): ReadonlyMap<number, Exit> {
  const exits = new Map<number, Exit>();
  for (const loop of findSpinLoops(kernel).across) {
    for (const index of loop) {
      const { last, successors } = kernel.blocks[index];
      const branch = kernel.instructions[last];
      if (!isBranch(branch.opcode) || branch.guard === undefined || successors.length !== 2) continue;
      const outside = successors.filter((next) => !loop.has(next));
      if (outside.length !== 1) continue;
      const isTaken = kernel.blocks[outside[0]].first !== last + 1;
      exits.set(last, { loop: Math.min(...loop), isTaken });
    }
  }
  return exits;
}
