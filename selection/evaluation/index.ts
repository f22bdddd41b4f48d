export { EvaluationError, type EvaluationFault } from './evaluationError.js';
export {
  clippedInversePropensity,
  doublyRobust,
  effectiveSamples,
  inversePropensity,
  selfNormalised,
  type Estimate,
  type WeightedLoss,
} from './estimators.js';
export {
  evaluatePolicy,
  LEAST_EFFECTIVE_SAMPLES,
  MOST_UNSUPPORTED,
  type EstimatorName,
  type EvaluationRequest,
  type PolicyEvaluation,
} from './evaluatePolicy.js';
export { judgedLosses, parseLoggedFeedback, type LoggedFeedback } from './loggedFeedback.js';
