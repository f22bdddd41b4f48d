export { InferenceProtocol, type InferenceProtocolOptions } from './inferenceProtocol.js';
export { INFERENCE_OPERATIONS } from './operations.js';
