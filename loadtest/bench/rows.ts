import type { Check } from './check.js';
import type { PredictBenchOptions, SideResult } from './predictBench.js';

/** What a row of the table needs to run. */
export interface Bench {
  readonly options: PredictBenchOptions;
  /** Resolves a compiled file beside this one. */
  readonly file: (name: string) => string;
}

/** What was measured, beside the figures that are held against floors. */
export interface Measured {
  readonly title: string;
  readonly sides: readonly SideResult[];
  readonly checks: readonly Check[];
}

/** A part of the table that can be asked for by name. */
export interface Row {
  readonly name: string;
  /** The name of several such parts together. */
  readonly group?: 'cluster';
  run(bench: Bench): Promise<readonly Measured[]>;
}
