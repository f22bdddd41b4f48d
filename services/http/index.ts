export { sendBytes, sendError, sendJson, sendText } from './answer.js';
export {
  BodyBudget,
  DEFAULT_BUFFERED_BYTES,
  overBudget,
  type BudgetCounts,
  type BudgetHolder,
} from './bodyBudget.js';
export { INTAKE, type IntakeSource } from './intake.js';
export { READING, type ReadConnection } from './reading.js';
export { ProgressMark } from './progressMark.js';
export { readBytes, type BytesReceiver } from './bodyBytes.js';
export { wantBody } from './continuation.js';
export { refuseBody, type BodyLimits } from './openBody.js';
export { isJsonType, readHeldJson, readJsonBody, streamJson } from './jsonBody.js';
export type { JsonBodyReceiver } from './streamedJson.js';
export { Certificates, TlsError, type CertificateFiles } from './certificates.js';
export type { ConnectionCounts } from './connectionLimit.js';
export {
  DEFAULT_MAX_CONNECTIONS,
  DEFAULT_TIMEOUTS,
  JsonServer,
  ListenError,
  listenError,
  sendRawError,
  type ConnectionTimeouts,
  type JsonServerOptions,
  type ListenOptions,
  type UpgradeReceiver,
} from './jsonServer.js';
export { originOf } from './origin.js';
export { ServerCertificates, type TlsSettings } from './serverCertificates.js';
export {
  errorBodySchema,
  openApiDocument,
  type ErrorBodyShape,
  type OpenApiOperation,
  type OpenApiParameter,
} from './openApi.js';
