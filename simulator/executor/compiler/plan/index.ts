export type { CodeForm } from './codeForm.js';
export type { KernelPlan } from './kernelPlan.js';
export { NOTHING_LEFT_OUT, OPTIMISATIONS, optimisationKey, type Optimisation } from './optimisations.js';
export { pushSymbolAddress } from './symbolAddresses.js';
