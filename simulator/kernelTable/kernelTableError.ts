export type KernelTableErrorCode = 'unreadableFile' | 'invalidTable' | 'invalidOption' | 'refused';

/** A kernel table that cannot be read or replayed. */
export class KernelTableError extends Error {
  override readonly name = 'KernelTableError';

  constructor(
    readonly code: KernelTableErrorCode,
    message: string,
  ) {
    super(message);
  }
}
