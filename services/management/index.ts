export { registerDefaults } from './defaultApplications.js';
export type { AdminSources } from './adminVerbs.js';
export { ManagementServer } from './managementServer.js';
export { CONSTANT_CONTAINER, KERNEL_MODEL_CONTAINER } from './schemas.js';
