import type { IrFunction } from '../ir.js';
import { machineCode } from './machineCode.js';
import { formRegions } from './regions.js';
import { takenIn } from './takenIn.js';
import { registerValues } from './uniformValues.js';
import { unrolling } from './unrolling.js';

/** How the assembler lays a function out, as far as time depends on it. */
export interface CodeShape {
  /** 1 for registers whose values may differ between the threads of a warp. */
  readonly varying: Uint8Array;
  /** 1 for registers that are never there: other operations take in what would be written to them. */
  readonly takenIn: Uint8Array;
  /** Of each block: how often it stands in a row, when it is the body of a loop that is unrolled; else 1. */
  readonly copies: Uint8Array;
  /** Of each block: the first of the blocks that are scheduled as one with it. */
  readonly regionOf: Int32Array;
}

export function codeShape(fn: IrFunction, uniformRegisters: boolean): CodeShape {
  const code = machineCode(fn, uniformRegisters);
  const varying = registerValues(fn, uniformRegisters);
  const copies = new Uint8Array(fn.blocks.length).fill(1);
  const regionOf = Int32Array.from(fn.blocks, ({ index }) => index);
  for (const [start, region] of formRegions(fn, code)) {
    for (const block of region.blocks) regionOf[block] = start;
    copies[start] = unrolling(fn, start, region, code);
  }
  const widths = new Uint8Array(fn.registers.length).fill(1);
  const parts = takenIn(fn, code.writes, widths);
  return {
    varying,
    takenIn: Uint8Array.from(parts, (part) => (part === undefined ? 0 : 1)),
    copies,
    regionOf,
  };
}
