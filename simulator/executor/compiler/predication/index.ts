export { MaskedCode, type MaskedSurroundings, type SteadyForm } from './maskedCode.js';
export { MaskedPasses, clearMaskedPasses } from './maskedPasses.js';
export { planMasked, type MaskedPlan } from './maskedPlan.js';
