import type {
  Arm,
  ArmOutcome,
  ArmPrediction,
  Feedback,
  Json,
  QueryView,
  Selection,
} from '../../selection/index.js';

/** The name of a policy of the user's own where policies are named. */
export const FILE_POLICY = 'file';
const SCHEMA = 1;
/** While the policy learns nothing so many observations are kept. */
export const MOST_UNLEARNED = 1000;
/** Of their texts, in characters: each write of the state has all of them. */
export const MOST_UNLEARNED_LENGTH = 1_048_576;

/** An observation as plain data. */
export type KeptObservation =
  | {
      readonly selection: Selection;
      readonly predictions: readonly KeptPrediction[];
      readonly feedback: Feedback;
      readonly query: QueryView;
    }
  | { readonly noticed: readonly (readonly ArmOutcome[])[] };

export interface KeptPrediction {
  readonly arm: Arm;
  readonly output: string;
  readonly scores?: readonly number[];
}

/**
 * A state as it is kept of a policy that runs elsewhere: what that has learned, and what it has yet to learn. All that happens to
 * it here is done without asking the policy, so that none is lost while that is away.
 */
export interface FileState {
  readonly schema: typeof SCHEMA;
  readonly policy: typeof FILE_POLICY;
  readonly arms: readonly Arm[];
  readonly parameters: Json;
  /** The policy's own state; null: as before any feedback. */
  readonly learned: Json;
  /** Of a context that has learned nothing: `learned` is the application's own, of which the policy makes what it begins with. */
  readonly isPrior?: true;
  readonly unlearned: readonly KeptObservation[];
}

export function freshState(arms: readonly Arm[], parameters: Json): FileState {
  return { schema: SCHEMA, policy: FILE_POLICY, arms: [...arms], parameters, learned: null, unlearned: [] };
}

/** @returns undefined when it is none */
export function fileStateFrom(value: Json): FileState | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { schema, policy, arms, parameters, learned, isPrior, unlearned } = value as Partial<
    Record<keyof FileState, unknown>
  >;
  if (schema !== SCHEMA || policy !== FILE_POLICY || parameters === undefined || learned === undefined)
    return undefined;
  if (isPrior !== undefined && isPrior !== true) return undefined;
  if (!Array.isArray(arms) || !arms.every((arm) => typeof arm === 'string')) return undefined;
  if (!Array.isArray(unlearned) || !(unlearned as readonly unknown[]).every(isObservation)) return undefined;
  return value as unknown as FileState;
}

function isObservation(value: unknown): value is KeptObservation {
  if (typeof value !== 'object' || value === null) return false;
  if ('noticed' in value) return Array.isArray(value.noticed);
  return 'selection' in value && 'predictions' in value && 'feedback' in value && 'query' in value;
}

export function keptPrediction({ arm, output, scores }: ArmPrediction): KeptPrediction {
  return scores === undefined ? { arm, output } : { arm, output, scores: [...scores] };
}

export function keptQuery({ context, features }: QueryView): QueryView {
  return features === undefined ? { context } : { context, features };
}

/** About what an observation takes, in characters. */
export function lengthOf(observation: KeptObservation): number {
  if ('noticed' in observation) return 100 * observation.noticed.length;
  const { predictions, feedback } = observation;
  return predictions.reduce(
    (sum, { output, scores = [] }) => sum + output.length + 20 * scores.length,
    feedback.label.length,
  );
}
