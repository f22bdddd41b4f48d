export { environmentRefusal } from './childEnvironment.js';
export type { Model, ModelInputs, ModelOutput, ScoredOutput } from './modelModule.js';
export { modulePath } from './modulePath.js';
export type { ProcessStart } from './processChannel.js';
export { ProcessHost, tryModule } from './processHost.js';
export { DEFAULT_PROCESS_LIMITS, type ProcessLimits } from './processLimits.js';
export type {
  ExecSource,
  OwnProcessSource,
  ProcessNeeds,
  ProcessSource,
  PythonSource,
} from './processSource.js';
export { sourceRefusal } from './sourceRefusal.js';
