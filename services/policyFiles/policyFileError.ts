/** A policy file that cannot be used. */
export class PolicyFileError extends Error {
  override readonly name = 'PolicyFileError';

  constructor(
    /** `file`; `loop` of a call that did not return; or the field of parameters or loss that it does not take. */
    readonly field: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
