/** A store that cannot be opened, or a key that no store takes. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  constructor(
    readonly code:
      'schemaTooNew' | 'inUse' | 'unusable' | 'closed' | 'invalidKey' | 'notBehind' | 'notEmpty' | 'damaged',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
