/** A file that is no whole backup, or none that this program can read; says which. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
  constructor(
    readonly code: 'notABackup' | 'damaged' | 'newer',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
