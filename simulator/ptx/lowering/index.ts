export { lowerCalls, type CallLoweringOptions } from './calls/index.js';
export { lowerModule, takeLowered } from './lowerModule.js';
