/** What keeps a process from being a member of a cluster. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
  constructor(
    readonly code: 'nameTaken',
    message: string,
  ) {
    super(message);
  }
}
