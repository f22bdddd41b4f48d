export {
  encodedWidth,
  encodingSchema,
  partWidth,
  type EncodingPart,
  type InputEncoding,
  type Scalar,
} from './encodingSchema.js';
export { InputEncoder } from './inputEncoder.js';
export { sampleTexts } from './sampleTexts.js';
