export { InferenceProtocol, type InferenceProtocolOptions } from './inferenceProtocol.js';
