import type { DriverFailure } from '../driver/index.js';

export type LaunchSpecErrorCode = 'invalidSpec' | 'unreadableFile' | 'refused' | 'fault';

/** Why a spec did not run: its own mistake, a file, the driver's refusal, or the kernel's fault. */
export class LaunchSpecError extends Error {
  override readonly name = 'LaunchSpecError';

  constructor(
    readonly code: LaunchSpecErrorCode,
    message: string,
    /** Path of the field at fault, like `args[2].buffer.count`. */
    readonly field?: string,
    /** The driver's answer, with the place of a fault. */
    readonly failure?: DriverFailure,
    /** What the kernel had printed before its fault. */
    readonly printed?: string,
  ) {
    super(message);
  }
}
