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
  readonly unlearned: readonly KeptObservation[];
}

export function freshState(arms: readonly Arm[], parameters: Json): FileState {
  return { schema: SCHEMA, policy: FILE_POLICY, arms: [...arms], parameters, learned: null, unlearned: [] };
}

/** @returns undefined when it is none */
export function fileStateFrom(value: Json): FileState | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { schema, policy, arms, parameters, learned, unlearned } = value as Partial<FileState>;
  if (schema !== SCHEMA || policy !== FILE_POLICY || parameters === undefined || learned === undefined)
    return undefined;
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
