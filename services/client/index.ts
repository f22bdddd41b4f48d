export {
  ClientError,
  RefusedError,
  SecurityError,
  TimeoutError,
  UnexpectedAnswerError,
  UnreachableError,
} from './clientErrors.js';
export type {
  CallOptions,
  ClientInput,
  Feedback,
  FeedbackResult,
  Prediction,
  PredictOptions,
} from './clientTypes.js';
export { BINARY_MESSAGES, JSON_MESSAGES, readAnswer } from './clientMessages.js';
export type { ConnectionOptions } from './connectionOptions.js';
export type { LaunchClass } from '../../containers/protocol/index.js';
export { HttpCalls } from './httpCalls.js';
export type { JobAnswer, JobsClient, UnreadableJob } from './jobsClient.js';
export type { ManagementClient } from './managementClient.js';
export { WebSocketClient, type WebSocketClientOptions } from './webSocketClient.js';
export {
  DEFAULT_MANAGEMENT_URL,
  DEFAULT_QUERY_URL,
  WindjammerClient,
  type WindjammerClientOptions,
} from './windjammerClient.js';
