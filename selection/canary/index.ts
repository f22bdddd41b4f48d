export { canaryPolicy, trialOf, type CanaryState } from './canary.js';
export { candidateShare, type Trial, type TrialRules } from './trial.js';
