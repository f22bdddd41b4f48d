export type * from './records.js';
export { hasOwnProcess, isExternal, isHosted } from './hosted.js';
export { commonInputForm, inputFormOf } from './inputForms.js';
export { checkApplicationName, checkName, NAME_PATTERN, RESERVED_APPLICATION_NAMES } from './names.js';
export { MOST_REPLICAS, policyFileHash, Registry } from './registry.js';
export { registryFault } from './storedShape.js';
