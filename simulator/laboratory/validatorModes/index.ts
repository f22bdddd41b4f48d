/** Ways of judging launches that the served validator is compared with and explained by; none is served. */
export {
  VALIDATOR_MODES,
  validatorInMode,
  waysOfJudging,
  type ModeOptions,
  type ValidatorMode,
} from './validatorModes.js';
