/**
 * What a policy file exports: `import type { UserPolicy } from 'windjammer/policy'`, in JavaScript by JSDoc. Stands alone, so that a
 * policy can be checked without the rest.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The name of a linked model. */
export type Arm = string;

/** One model's answer to a query. */
export interface ArmPrediction {
  readonly arm: Arm;
  /** JSON text or any other string. */
  readonly output: string;
  readonly scores?: Float32Array | undefined;
}

export interface Combination {
  /** undefined: the application's default output is due. */
  readonly output: string | undefined;
  /** From 0 to 1. */
  readonly confidence: number;
}

export interface Feedback {
  /** The true output; '' where nobody knows it. */
  readonly label: string;
  /** In [0, 1], where the application measured it. */
  readonly loss?: number;
  /** Of single models, in [0, 1]. They go before the label. */
  readonly losses?: Readonly<Record<Arm, number>>;
  /** Models that were late for their query: what that costs is in `losses`. Absent where the application does not say. */
  readonly late?: readonly Arm[];
}

export type Features = Readonly<Record<string, number>>;

export interface QueryView {
  /** '' when the query names none. */
  readonly context: string;
  readonly features?: Features | undefined;
}

export interface FeatureFault {
  readonly name: string;
  /** What is wrong, and the fix. */
  readonly message: string;
}

export interface Selection {
  /** The models to ask, most wanted first. */
  readonly arms: readonly Arm[];
  /** Asked beside them, never waited for nor answered with. */
  readonly shadows?: readonly Arm[] | undefined;
  /** The probability with which this was drawn, above 0; 1 when it was no draw. */
  readonly propensity: number;
  /** Of a context that keeps its model, which is no draw: the share of contexts that have this one. `notice` is told. */
  readonly share?: number | undefined;
}

export type ArmOutcome = {
  readonly arm: Arm;
  /** Of the first model: with which probability it was chosen, or the share of contexts that have it. */
  readonly share?: number | undefined;
} & (
  | { readonly kind: 'answered'; readonly latencyMs: number; readonly isCached: boolean }
  | { readonly kind: 'failed' | 'absent' | 'late' }
);

/** A uniform draw in [0, 1), the same for the same query. */
export type Draw = () => number;

/**
 * The default export of a policy file: pure functions of a state that is plain JSON. What they are given is frozen, what they give is
 * checked. A state has `schema` (1), `policy` (the name) and each parameter as a member.
 */
export interface UserPolicy<S extends Json = Json> {
  readonly name: string;
  /** All contexts share the application's own state. */
  readonly isShared?: true;
  /** It draws, and nobody can tell with which probability. */
  readonly isPropensityUnknown?: true;
  /** Names of its parameters. */
  readonly parameters: readonly string[];
  /** @throws PolicyError naming the parameter and the fix */
  init(arms: readonly Arm[], parameters: Json): S;
  /** A state that was kept. @throws PolicyError when it is not this policy's */
  restore(value: Json): S;
  /** After models were linked or unlinked. */
  reconcile(state: S, arms: readonly Arm[]): S;
  select(state: S, draw: Draw, query: QueryView): Selection;
  /** Left out: the answer of the first model that was asked. Then a query waits for the policy once and not twice. */
  combine?(state: S, asked: readonly Arm[], arrived: readonly ArmPrediction[], query: QueryView): Combination;
  /** Who is asked next once all of `asked` have answered or failed; undefined: nobody. */
  escalate?(
    state: S,
    asked: readonly Arm[],
    arrived: readonly ArmPrediction[],
    query: QueryView,
  ): Arm | undefined;
  /** After feedback on a query that `select` has chosen for. */
  observe(
    state: S,
    selection: Selection,
    predictions: readonly ArmPrediction[],
    feedback: Feedback,
    query: QueryView,
  ): S;
  /**
   * The state that a context begins with, from the application's own, which then learns of the feedback of all contexts: the same
   * arms and parameters, and of what was learned as much as the context's own feedback soon outweighs; undefined: as `init` gives it.
   * Without it contexts begin with that, and the application's own state learns of queries without a context.
   */
  prior?(own: S): S | undefined;
  /** After queries were answered, of each what became of the models that were asked. */
  notice?(state: S, queries: readonly (readonly ArmOutcome[])[]): S;
  /** What it does not take of a query's features. Without it features are not remembered for feedback. */
  featureFault?(state: S, features: Features): FeatureFault | undefined;
  /** Of a policy whose states have another shape with other parameters. */
  withParameters?(state: S, fresh: S): S;
  /** Of each model, adding up to one. */
  shares(state: S): ReadonlyMap<Arm, number>;
}

/** What a file exports as `losses`: from 0 (right) to 1 (wrong). */
export type Losses = Readonly<Record<string, (output: string, label: string) => number>>;

/** Parameters or a state are not the policy's. */
export declare class PolicyError extends Error {
  constructor(field: string, message: string);
  readonly field: string;
}

/** The loss of one model in [0, 1], of its label or of what was measured; 1 where its answer is missing. */
export declare function lossOf(arm: Arm, predictions: readonly ArmPrediction[], feedback: Feedback): number;

/** Whether two outputs, or an output and a label, are the same JSON value. */
export declare function sameOutput(one: string, other: string): boolean;
