export { AllocationMap } from './allocationMap.js';
export type { Verdict } from './causes.js';
export type { ValidatedLaunch } from './validatedLaunch.js';
export {
  compileValidator,
  compileVerdicts,
  Validator,
  type AccessIntervals,
  type ValidatorOptions,
  type WayOfJudging,
  type WaysOfJudging,
} from './validator.js';
export type { VerdictCode } from './compactedCode.js';
