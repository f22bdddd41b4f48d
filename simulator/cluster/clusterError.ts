export type ClusterErrorCode = 'invalidOption' | 'unknownGpu' | 'unknownContext' | 'snapshotMismatch';

export class ClusterError extends Error {
  override readonly name = 'ClusterError';

  constructor(
    readonly code: ClusterErrorCode,
    message: string,
  ) {
    super(message);
  }
}
