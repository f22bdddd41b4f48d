/** Why a server cannot be started with the keys that there are; says what to do about it. */
export class AccessError extends Error {
  override readonly name = 'AccessError';
}
