/** A bundle that cannot be kept, or that is not what its hash says. */
export class BundleError extends Error {
  override readonly name = 'BundleError';
  constructor(
    readonly code: 'missing' | 'damaged' | 'tooLarge' | 'changed' | 'malformed' | 'full' | 'unusable',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
