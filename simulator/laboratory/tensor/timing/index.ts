export { timedForms, timingKernels, timingModule } from './timingKernels.js';
export type { TimedLaunch } from './timingKernels.js';
