/** Of the system's errors: neither the process nor the machine has another file handle. */
const CODES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE']);

/** An error of another thread has lost its code. */
const MESSAGE = /^(?:Worker initialization failure: )?E[MN]FILE\b/;

/** Causes of causes that are looked at. */
const DEPTH = 5;

/** Whether something failed since no more files could be opened. */
export function isOutOfFileHandles(thrown: unknown): boolean {
  let error = thrown;
  for (let depth = 0; depth < DEPTH && error instanceof Error; depth++) {
    if ('code' in error && CODES.has(error.code)) return true;
    if (MESSAGE.test(error.message)) return true;
    error = error.cause;
  }
  return false;
}
