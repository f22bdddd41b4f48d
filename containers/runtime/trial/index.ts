export type { GoldenFailure, GoldenReport } from './goldenTrial.js';
export { tryModel, type BatchTrial, type ModelTrialOptions, type ModelTrialReport } from './modelTrial.js';
