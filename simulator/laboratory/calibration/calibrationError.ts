export type CalibrationErrorCode = 'unreadable' | 'invalidMeasurement' | 'nothingMeasured' | 'noTable';

/** Why measurements cannot be held against the model: the message names file, line and column. */
export class CalibrationError extends Error {
  override readonly name = 'CalibrationError';

  constructor(
    readonly code: CalibrationErrorCode,
    message: string,
  ) {
    super(message);
  }
}
