/** A configuration that cannot be used; its message has a line for each fault: where it is, and what would be taken. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}
