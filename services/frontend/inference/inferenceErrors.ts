import type { ServerResponse } from 'node:http';
import { ERROR_CATALOGUE, passesSoon, type ErrorCode } from '../../errors/index.js';
import { sendJson } from '../../http/index.js';
import { retryAfterHeader } from '../answers.js';

/** Answers with an error of the catalogue in the protocol's shape, `{"error": "<message>"}`. */
export function sendInferenceError(
  response: ServerResponse,
  code: ErrorCode,
  message: string,
  headers?: readonly string[],
): void {
  // Memory and file handles are free again as soon as others have theirs no more.
  const more = passesSoon(code) ? retryAfterHeader(1000) : headers;
  sendJson(response, ERROR_CATALOGUE[code].status, JSON.stringify({ error: message }), more);
}
