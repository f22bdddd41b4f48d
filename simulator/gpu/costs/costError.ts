export type CostErrorCode = 'invalidCosts' | 'unknownCost';

/** A cost profile that cannot be read, or a launch that none tells of. */
export class CostError extends Error {
  override readonly name = 'CostError';

  constructor(
    readonly code: CostErrorCode,
    message: string,
    /** Path of the field at fault, like `kernels[2].variants[0].grid`. */
    readonly field?: string,
  ) {
    super(message);
  }
}
