/** JSON values: policy state, parameters and feedback are data that a store can keep and a person can read. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A model as selection sees it: an arm. The name alone, so that a new version inherits what its model has learned. */
export type Arm = string;

/** One arm's answer to a query. */
export interface ArmPrediction {
  readonly arm: Arm;
  readonly output: string;
  readonly scores?: Float32Array | undefined;
}

export interface Combination {
  /** undefined: nothing to answer with, the application's default is due. */
  readonly output: string | undefined;
  /** Share of agreement, 0 to 1, over all the arms that were asked: a missing one lowers it. */
  readonly confidence: number;
}

export interface Feedback {
  /** The true output, compared as a JSON value with what arms answered. '' where nobody knows it. */
  readonly label: string;
  /** Loss in [0, 1] when the application measured it itself; otherwise 0 for the right label and 1 for a wrong one. */
  readonly loss?: number;
  /** Of single arms, in [0, 1]: measured by the application, or by its loss where that is not 0 or 1. They go before the label. */
  readonly losses?: Readonly<Record<Arm, number>>;
  /** Arms that were late for their query, whatever they said: what that costs is in `losses`. Absent where the application does not say. */
  readonly late?: readonly Arm[];
}

/**
 * Named finite numbers that a query brings: what is known of whom or what it is for. A name that is absent counts as 0, as in
 * any sparse vector.
 */
export type Features = Readonly<Record<string, number>>;

/** What a policy sees of a query beside its own state. */
export interface QueryView {
  /** Of the query; '' when it names none. */
  readonly context: string;
  readonly features?: Features | undefined;
}

/** Why a policy does not take a query's features. */
export interface FeatureFault {
  /** Of the feature at fault. */
  readonly name: string;
  /** What is wrong, and the fix. */
  readonly message: string;
}

/** What `select` chose. */
export interface Selection {
  /** The arms to ask, most wanted first; empty only when there are none. */
  readonly arms: readonly Arm[];
  /**
   * Arms that are asked beside them with what is left over: they are never waited for nor answered with, and feedback judges
   * those that have answered by then.
   */
  readonly shadows?: readonly Arm[] | undefined;
  /**
   * The probability with which this choice was drawn: bandits weight feedback by its inverse. 1 when it was no draw, and
   * for a policy that does not weight feedback.
   */
  readonly propensity: number;
  /** Of a context that keeps its arm, which is no draw: the share of contexts that have this one. */
  readonly share?: number | undefined;
}

/** What became of one arm that was asked for a query. */
export type ArmOutcome = {
  readonly arm: Arm;
  /** Of the first arm: with which probability it was chosen, or the share of contexts that have it. */
  readonly share?: number | undefined;
} & (
  | {
      readonly kind: 'answered';
      /** From the moment that it was asked. */
      readonly latencyMs: number;
      /** Nothing was computed for it. */
      readonly isCached: boolean;
    }
  | {
      readonly kind:
        /** It said that it cannot, or had no room. */
        | 'failed'
        /** Nobody was there to be asked: no replica of it is up. */
        | 'absent'
        /** It had not answered when the query's time was over. */
        | 'late';
    }
);

/** A uniform draw in [0, 1), keyed by seed and query: the order of queries does not change it. */
export type Draw = () => number;

/**
 * A selection policy, after Clipper's section 5: pure functions of a state that is plain JSON. The caller keeps the state,
 * one for each application and context.
 */
export interface SelectionPolicy<S extends Json = Json> {
  readonly name: string;
  /** All contexts share the application's own state: what it learns is about models, whoever asks. */
  readonly isShared?: true;
  /** It draws, and nobody can tell with which probability: its propensities, which are 1, are none. */
  readonly isPropensityUnknown?: true;
  /** Names of its parameters. Each is a member of its states, too, so that it can be changed in one that has learned. */
  readonly parameters: readonly string[];
  /** @throws PolicyError naming the parameter and the fix when `parameters` are not this policy's. */
  init(arms: readonly Arm[], parameters: Json): S;
  /** A state that was kept as JSON. @throws PolicyError when it is not this policy's or of a schema it cannot read. */
  restore(value: Json): S;
  /** The state after arms were linked or unlinked; what the others have learned stays. */
  reconcile(state: S, arms: readonly Arm[]): S;
  select(state: S, draw: Draw, query?: QueryView): Selection;
  /**
   * Who is asked next, once all of `asked` have answered, failed or had their time, and some is left; undefined: nobody, and the
   * query is answered. It may be asked before that, about answers that may yet come. A policy without it asks whom `select` named.
   */
  escalate?(
    state: S,
    asked: readonly Arm[],
    arrived: readonly ArmPrediction[],
    query?: QueryView,
  ): Arm | undefined;
  /** An answer from what has arrived of `asked`. */
  combine(state: S, asked: readonly Arm[], arrived: readonly ArmPrediction[], query?: QueryView): Combination;
  /**
   * The state after feedback. `selection` is what `select` gave for this query, so that credit goes to the arm that
   * served it; `predictions` are those arms' answers, `query` is what it saw of the query.
   */
  observe(
    state: S,
    selection: Selection,
    predictions: readonly ArmPrediction[],
    feedback: Feedback,
    query?: QueryView,
  ): S;
  /**
   * The state of a context that nobody has judged, from the application's own: the same arms and parameters, and of what the
   * application has learned as much as the context's own feedback soon outweighs; undefined: contexts begin with nothing. Where
   * there is one, the application's own state learns of the feedback of all contexts. A policy without it has no prior.
   */
  prior?(own: S): S | undefined;
  /** The state after queries were answered, of each what became of the arms that were asked, in order. Nobody has judged them. */
  notice?(state: S, queries: readonly (readonly ArmOutcome[])[]): S;
  /**
   * What it does not take of a query's features, undefined: nothing. A policy without it does not look at features: a query
   * may bring any, and none are remembered for feedback.
   */
  featureFault?(state: S, features: Features): FeatureFault | undefined;
  /**
   * The state with the parameters of another, `fresh`, which has no arms; what it has learned stays. Of a policy whose states
   * have another shape with other parameters: in others the parameters take each other's place.
   */
  withParameters?(state: S, fresh: S): S;
  /** What the state has become by itself: of a policy that learns elsewhere, and is told by `observe` alone. */
  settled?(state: S): S;
  /** Probability or weight share of each arm, adding up to one: for dashboards and metrics. */
  shares(state: S): ReadonlyMap<Arm, number>;
}

export class PolicyError extends Error {
  override readonly name = 'PolicyError';
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}
