import type { ProcessLimits } from './processLimits.js';

/** What the process of a user's model may have. */
export interface ProcessNeeds {
  /** Of memory, beside what windjammer itself takes there; any when undefined. */
  readonly memoryMiB?: number;
  /** Names of variables of the server's environment that it gets beside the usual ones. */
  readonly environment?: readonly string[];
  /** The defaults for what is left out. */
  readonly limits?: Partial<ProcessLimits>;
}

/** A user's JavaScript module. */
export interface ProcessSource extends ProcessNeeds {
  /** Absolute, or relative to the package's root. */
  readonly path: string;
}

/** A user's Python module. */
export interface PythonSource extends ProcessNeeds {
  /** As of a JavaScript module. */
  readonly path: string;
  /** What runs it: a name that is looked for on PATH, or an absolute path. `python3` when undefined. */
  readonly python?: string;
}

/** A user's program, which reads lines of JSON and writes lines of JSON. */
export interface ExecSource extends ProcessNeeds {
  /** The folder that it runs in: absolute, or relative to the package's root. */
  readonly path: string;
  /** For `/bin/sh -c`. */
  readonly command: string;
}

/** What runs in processes of its own, one a replica. A source that does not say its kind is a JavaScript module. */
export type OwnProcessSource =
  | ({ readonly kind?: 'process' } & ProcessSource)
  | ({ readonly kind: 'python' } & PythonSource)
  | ({ readonly kind: 'exec' } & ExecSource);
