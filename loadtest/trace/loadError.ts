/** A replay that cannot be run as it was asked for: what is at fault, and what to do about it. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
  constructor(
    /** An option, `FILE:LINE`, or a field of the configuration. */
    readonly where: string,
    problem: string,
    options?: ErrorOptions,
  ) {
    super(`${where}: ${problem}`, options);
  }
}
