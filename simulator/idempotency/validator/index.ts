export { AllocationMap } from './allocationMap.js';
export type { Verdict } from './causes.js';
export type { ValidatedLaunch } from './validatedLaunch.js';
export {
  compileValidator,
  compileVerdicts,
  Validator,
  VALIDATOR_MODES,
  type AccessIntervals,
  type ValidatorMode,
  type ValidatorOptions,
} from './validator.js';
export type { VerdictCode } from './compactedCode.js';
