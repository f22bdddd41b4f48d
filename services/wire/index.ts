export {
  decodeAnswer,
  encodeError,
  encodeFeedbackAnswer,
  predictionFrameBytes,
  writePrediction,
  type AnswerFrame,
  type WireError,
} from './answerFrames.js';
export { FrameType, MAX_ID, WIRE_DEFAULT_REASONS, WIRE_INPUT_TYPES } from './layout.js';
export {
  checkHead,
  decodeFeedback,
  decodePredict,
  encodeCancel,
  encodeFeedback,
  encodePredict,
  frameId,
  frameType,
  GarbageError,
  type FeedbackFrame,
  type PredictFrame,
} from './requestFrames.js';
