/**
 * A question for a solver of bit-vectors that arithmetic by intervals cannot answer: the least and greatest value of an
 * expression, over all threads and iterations that its conditions let through.
 */
export interface SolverQuery {
  /** Content of the question: equal ones have equal answers. */
  readonly key: string;
  /**
   * SMT-LIB 2: declarations and assertions that hold wherever the value occurs. `x` is the value, a signed bit-vector of
   * `bits`; there may be further models, so that what holds of all of them holds of the value.
   */
  readonly text: string;
  readonly bits: number;
  /** Bounds that are known already. */
  readonly least: bigint;
  readonly most: bigint;
  /** Bounds farther apart than this are of no use: the solver may say `unknown` as soon as it sees that. */
  readonly useful: bigint;
}

/** `never`: the assertions contradict each other, so that the value does not occur. `unknown`: the solver gave up. */
export type SolverFact = { readonly lo: number; readonly hi: number } | 'never' | 'unknown';

/** Answers by the key of the question. */
export type SolverFacts = ReadonlyMap<string, SolverFact>;

/** What an analysis uses of a solver: answers that are known, and where it leaves questions that are open. */
export interface SolverNotes {
  readonly facts: SolverFacts;
  readonly ask: (query: SolverQuery) => void;
}
