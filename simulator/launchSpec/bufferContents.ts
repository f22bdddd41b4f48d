import { generateElements } from './generators.js';
import { LaunchSpecError } from './launchSpecError.js';
import type { ContentsSpec } from './argumentSchema.js';

/** Bytes filled at once: host arrays of whole buffers would double a large launch's memory. */
export const PIECE_BYTES = 2 ** 26;

/** Whether the spec gives the buffer no contents, so that only a kernel writes it. */
export function isUnwritten(spec: ContentsSpec): boolean {
  return spec.fill === undefined && spec.generate === undefined && spec.values === undefined;
}

/**
 * Fills `bytes` with the buffer's elements from `first` on.
 * @param field path of the buffer in the spec, for messages
 * @throws LaunchSpecError `invalidSpec` when a rule gives what the type cannot hold.
 */
export function fillPiece(spec: ContentsSpec, first: number, bytes: Uint8Array, field: string): void {
  try {
    generateElements(spec, first, bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new LaunchSpecError('invalidSpec', `${field}: ${error.message}; give smaller numbers`, field);
  }
}
