import type { ProcessLimits } from './processLimits.js';

/** A user's model, and what its process may have. */
export interface ProcessSource {
  /** The module of the model: absolute, or relative to the package's root. */
  readonly path: string;
  /** Of the JavaScript heap, and of everything else that it takes beside Node itself; any when undefined. */
  readonly memoryMiB?: number;
  /** Names of variables of the server's environment that it gets beside the usual ones. */
  readonly environment?: readonly string[];
  /** The defaults for what is left out. */
  readonly limits?: Partial<ProcessLimits>;
}
