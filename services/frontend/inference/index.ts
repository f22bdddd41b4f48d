export { InferenceProtocol, type InferenceProtocolOptions } from './inferenceProtocol.js';
export type { ModelRepository } from './repositoryRoutes.js';
export { INFERENCE_OPERATIONS } from './operations.js';
