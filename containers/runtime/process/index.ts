export type { Model, ModelInputs, ModelOutput, ScoredOutput } from './modelModule.js';
export { modulePath, moduleRefusal } from './modulePath.js';
export type { ProcessLimits, ProcessStart } from './processChannel.js';
export { ProcessHost, tryModule } from './processHost.js';
