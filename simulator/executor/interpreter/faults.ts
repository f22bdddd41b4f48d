import type { FaultCode } from '../types.js';

/** Thrown where a lane cannot go on; the interpreter makes a `KernelFault` of it. */
export class LaneFault extends Error {
  override readonly name = 'LaneFault';
  /** Lane of the warp at fault. */
  lane = 0;

  constructor(
    readonly code: FaultCode,
    message: string,
    readonly address?: number,
  ) {
    super(message);
  }
}
