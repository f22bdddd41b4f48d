export { goldenProblem, type GoldenFailure, type GoldenReport } from './goldenTrial.js';
export { inputBytes } from './trialInputs.js';
export { tryModel, type BatchTrial, type ModelTrialOptions, type ModelTrialReport } from './modelTrial.js';
export { fittingReplicas, type GpuShare } from './placementTrial.js';
