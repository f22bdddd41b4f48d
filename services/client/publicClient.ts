/*
 * What `windjammer/client` is. Its types are rolled up from here (tests/clientDeclarations.ts), so that they stand alone.
 */
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
export type { ConnectionOptions } from './connectionOptions.js';
export type { LaunchClass } from '../../containers/protocol/index.js';
export type { JobAnswer, JobsClient, UnreadableJob } from './jobsClient.js';
export type { ManagementClient } from './managementClient.js';
export { WebSocketClient, type WebSocketClientOptions } from './webSocketClient.js';
export {
  DEFAULT_MANAGEMENT_URL,
  DEFAULT_QUERY_URL,
  WindjammerClient,
  type WindjammerClientOptions,
} from './windjammerClient.js';
