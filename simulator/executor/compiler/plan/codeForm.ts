import type { Optimisation } from './optimisations.js';

/** Which of the forms of a kernel's code to make; `{}` is the fast one. */
export interface CodeForm {
  /** Every access to global memory is written to the journal. */
  readonly observed?: boolean;
  /** A block that has used up its fuel stops at the next edge back instead of faulting. */
  readonly resumable?: boolean;
  /** Several threads run blocks at once, each in an area of its own: atomics on global memory are atomic among them. */
  readonly threaded?: boolean;
  /** Most groups of four lanes that the launch's blocks let go together (`mostGroups`); of the fast form. */
  readonly groups?: number;
  /** Lanes go together wherever they can, for tests: though the order of threads may show, and though it may not pay. */
  readonly alwaysTogether?: boolean;
  /** What is left out of fast code, to see what it brings; the results are the same. */
  readonly without?: ReadonlySet<Optimisation>;
}
