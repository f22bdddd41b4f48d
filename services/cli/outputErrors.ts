import type { EventEmitter } from 'node:events';

/**
 * What a command does when nobody reads it any more (`| head`): it goes on and ends as it would. When its results cannot
 * be written for another reason, it says so and ends with 1. A standard error that is gone can be told nothing.
 */
export function watchOutput(
  output: EventEmitter = process.stdout,
  errors: EventEmitter & { write(text: string): unknown } = process.stderr,
): void {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    errors.write(`windjammer: standard output: ${error.message}\n`);
    process.exitCode = 1;
  });
  errors.on('error', () => undefined);
}
