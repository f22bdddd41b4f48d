export type BatchJobErrorCode = 'unreadableInput' | 'unusableOutput' | 'stopped';

/** A job that cannot begin, or cannot go on. */
export class BatchJobError extends Error {
  override readonly name = 'BatchJobError';

  constructor(
    readonly code: BatchJobErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
