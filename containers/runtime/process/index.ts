export { environmentRefusal } from './childEnvironment.js';
export type { Model, ModelInputs, ModelOutput, ScoredOutput } from './modelModule.js';
export { modulePath, moduleRefusal } from './modulePath.js';
export type { ProcessStart } from './processChannel.js';
export { ProcessHost, tryModule } from './processHost.js';
export { DEFAULT_PROCESS_LIMITS, type ProcessLimits } from './processLimits.js';
export type { ProcessSource } from './processSource.js';
