export { checkFile, MOST_FILE_LENGTH, type CheckedFile, type FileCheck } from './checkFile.js';
export { FILE_POLICY } from './fileState.js';
export {
  HostedPolicy,
  type HostedPolicyOptions,
  type HostedSelection,
  type PolicyAsk,
  type PolicyTraits,
} from './hostedPolicy.js';
export { openSteppedPolicy, type SteppedPolicy } from './steppedPolicy.js';
export { PolicyFileError } from './policyFileError.js';
export type { PolicyFault, PolicyFaultKind, PolicyFile } from './policyHost.js';
