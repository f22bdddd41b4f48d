export type DisassemblyErrorCode =
  'unreadableFile' | 'notPtx' | 'unsupported' | 'unknownKernel' | 'unknownDevice';

/** Why there is nothing to show: what is wrong, where, and what would do. */
export class DisassemblyError extends Error {
  override readonly name = 'DisassemblyError';

  constructor(
    readonly code: DisassemblyErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
