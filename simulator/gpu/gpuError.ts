export type GpuErrorCode =
  | 'unknownProfile'
  | 'invalidProfile'
  | 'invalidLaunch'
  | 'invalidClock'
  | 'invalidPowerLimit'
  | 'invalidShare'
  /** What a scheduling policy decided cannot be done. */
  | 'invalidDecision'
  | 'unsafeKill'
  | 'snapshotMismatch';

export class GpuError extends Error {
  override readonly name = 'GpuError';

  constructor(
    readonly code: GpuErrorCode,
    message: string,
    /** The field of the launch or option at fault. */
    readonly field?: string,
  ) {
    super(message);
  }
}
