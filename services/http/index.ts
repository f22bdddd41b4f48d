export { sendError, sendJson, sendText } from './answer.js';
export { readJsonBody, type JsonBodyReceiver } from './jsonBody.js';
export {
  DEFAULT_TIMEOUTS,
  JsonServer,
  ListenError,
  type ConnectionTimeouts,
  type ListenOptions,
} from './jsonServer.js';
export { openApiDocument, type OpenApiOperation } from './openApi.js';
