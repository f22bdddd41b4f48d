/**
 * What a module of a model exports by default, for models in TypeScript: `import type { Model } from 'windjammer/process'`.
 * Stands alone, so that a model can be compiled without the rest.
 */

/** Of each input type, what `predict` gets. */
export interface ModelInputs {
  readonly integers: Int32Array;
  readonly bytes: Uint8Array;
  readonly floats: Float32Array;
  readonly doubles: Float64Array;
  readonly strings: string;
}

/**
 * Answered as JSON. A string that is JSON text is answered as what it says; NaN and the infinities, for which JSON has no
 * word, as null.
 */
export type ModelOutput =
  string | number | boolean | null | readonly unknown[] | { readonly [key: string]: unknown };

/** An output with a score for each class: exactly these two fields. */
export interface ScoredOutput {
  readonly output: ModelOutput;
  readonly scores: ArrayLike<number>;
}

/** `predict`, `predictOne` or both; `predictOne` is taken when both are there. */
export interface Model<T extends keyof ModelInputs> {
  readonly inputType: T;
  /** Elements that an input must have; any number when left out. */
  readonly inputLength?: number;
  /** The largest batch that `predict` takes. Default 1024. */
  readonly maxBatchSize?: number;
  /** Called once, before the first batch. */
  load?(): void | Promise<void>;
  /** One output an input, in order. When it throws, the inputs are asked again apart, to find the one it throws for. */
  predict?(
    inputs: readonly ModelInputs[T][],
  ): readonly (ModelOutput | ScoredOutput)[] | Promise<readonly (ModelOutput | ScoredOutput)[]>;
  /** What it throws fails this input alone. */
  predictOne?(input: ModelInputs[T]): ModelOutput | ScoredOutput | Promise<ModelOutput | ScoredOutput>;
  /** Called once, when nothing more is asked: the process ends after it, and is killed when it takes too long. */
  close?(): void | Promise<void>;
}
