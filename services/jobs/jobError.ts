/** Why a ledger of jobs does not do what it was asked. */
export class JobError extends Error {
  override readonly name = 'JobError';
  constructor(
    readonly code: 'unknown' | 'full' | 'unusable',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
