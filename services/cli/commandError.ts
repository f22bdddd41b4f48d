/** Why a command ends with exit code 1: one line for standard error, with what to do about it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The message of anything thrown; a defect shows its stack, an expected failure does not. */
export function failureText(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const expected = ['CommandError', 'ListenError', 'StoreError', 'ServiceError', 'ModelError'];
  return expected.includes(thrown.name) ? thrown.message : (thrown.stack ?? thrown.message);
}
