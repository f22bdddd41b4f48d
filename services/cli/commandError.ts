/** Why a command ends with exit code 1: one line for standard error, with what to do about it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Errors whose message is meant for people; any other is a defect. */
const EXPECTED: readonly string[] = [
  'AccessError',
  'BackupError',
  'BundleError',
  'ClusterError',
  'CommandError',
  'ConfigurationError',
  'EvaluationError',
  'LinkError',
  'PolicyError',
  'PolicyFileError',
  'JobError',
  'ListenError',
  'StoreError',
  'SecurityError',
  'RedisError',
  'ServiceError',
  'ModelError',
  'TimeoutError',
  'TlsError',
  'UnexpectedAnswerError',
  'TracingSettingError',
];

/** The message of anything thrown; a defect shows its stack, an expected failure does not. */
export function failureText(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  // Told apart by their names: the classes are loaded only where a command needs them.
  if (thrown.name === 'RefusedError' && 'status' in thrown && 'code' in thrown) {
    return `${String(thrown.status)} ${String(thrown.code)}: ${thrown.message}`;
  }
  if (thrown.name === 'UnreachableError') return `${thrown.message}; start one with: windjammer serve`;
  return EXPECTED.includes(thrown.name) ? thrown.message : (thrown.stack ?? thrown.message);
}
