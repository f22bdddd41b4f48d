export { choiceOf, registerDefaults } from './defaultApplications.js';
export type { AdminSources } from './adminSources.js';
export type { CanaryAnswer } from './canaryVerbs.js';
export type { ClusterAnswer, ClusterView } from './clusterVerbs.js';
export type { EventAnswer, EventsAnswer, EventsFields } from './eventVerbs.js';
export type { ExportAnswer, FeedbackSources, QueueAnswer, QueueEntryAnswer } from './feedbackVerbs.js';
export type { GpuAnswer, GpuContextAnswer, GpuSources, TimelineFields } from './gpuVerbs.js';
export { keyVerbs, type AddKeyFields, type KeyAnswer, type NewKeyAnswer } from './keyVerbs.js';
export { ManagementServer, type ManagementAccess } from './managementServer.js';
export { applicationRecord } from './applicationRegistration.js';
export { modelRecord } from './modelRegistration.js';
export {
  addApplicationSchema,
  addModelSchema,
  EXEC_CONTAINER,
  PROCESS_CONTAINER,
  PYTHON_CONTAINER,
  CONSTANT_CONTAINER,
  KERNEL_MODEL_CONTAINER,
  type AddApplicationFields,
  type AddModelFields,
  type ApplicationAnswer,
  type BundleAnswer,
  type ContainerAnswer,
  type ModelAnswer,
  type ScaleFields,
  type SetApplicationFields,
  type StateAnswer,
} from './schemas.js';
export { validate } from './validation.js';
