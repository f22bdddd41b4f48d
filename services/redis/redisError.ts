/** A Redis that cannot be named, reached or used. The message says which, and what would be taken. */
export class RedisError extends Error {
  override readonly name = 'RedisError';
  constructor(
    readonly code: 'invalidAddress' | 'unreachable' | 'refused' | 'unusable',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
