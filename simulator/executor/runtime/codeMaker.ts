import type { CodeForm } from '../compiler/index.js';

/** Code of a kernel that another thread is to make: the kernel by its content, as `KernelCache` tells kernels apart. */
export interface WantedCode {
  readonly content: string;
  readonly form: CodeForm;
}

/** Another thread that makes code, so that the one that launches need not. */
export interface CodeMaker {
  /** False once it is gone: code is made where it is needed then. */
  readonly isThere: boolean;
  /** Asks for code that is taken over (`takeOver`) when it has been made, or never comes; asked once for each. */
  ask(wanted: WantedCode): void;
}
