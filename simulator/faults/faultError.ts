export type FaultErrorCode = 'invalidFaults' | 'unknownScheme' | 'unknownPlace';

export class FaultError extends Error {
  override readonly name = 'FaultError';

  constructor(
    readonly code: FaultErrorCode,
    message: string,
  ) {
    super(message);
  }
}
