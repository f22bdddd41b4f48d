import type { FaultCode } from '../types.js';

/** Thrown where a lane cannot go on; the interpreter makes a `KernelFault` of it. */
export class LaneFault extends Error {
  override readonly name = 'LaneFault';
  /** Lane of the warp at fault. */
  lane = 0;
  /** Where it is, if not where the last step was: number of the block, warp and instruction. */
  at: { readonly block: number; readonly warp: number; readonly pc: number } | undefined;

  constructor(
    readonly code: FaultCode,
    message: string,
    readonly address?: number,
  ) {
    super(message);
  }
}
