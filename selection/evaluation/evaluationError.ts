/** Why a policy is not judged from a log. */
export type EvaluationFault =
  /** A line of the log cannot be read, or says what cannot be. */
  | 'bad_line'
  /** The log is of several applications and none was chosen, or has nothing of the one that was. */
  | 'no_such_application'
  /** Lines do not say with which probability their models were asked. */
  | 'no_propensities'
  /** The policy asks a model that the log does not have, or its state is of others. */
  | 'unknown_arm'
  /** The policy looks at a feature that no query of the log brings. */
  | 'unknown_feature'
  /** Of what the policy would have done too much has never been tried. */
  | 'no_support'
  /** What is left of the log under the policy's weights is too little for an interval. */
  | 'few_effective_samples'
  /** Its answer is made of several models'. */
  | 'several_answers';

/** A refusal to estimate, with what would be taken. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError';
  constructor(
    readonly fault: EvaluationFault,
    message: string,
  ) {
    super(`${fault}: ${message}`);
  }
}
