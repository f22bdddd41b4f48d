import type { ServerResponse } from 'node:http';
import { ERROR_CATALOGUE, type ErrorCode } from '../../errors/index.js';
import { sendJson } from '../../http/index.js';
import { retryAfterHeader } from '../answers.js';

/** Answers with an error of the catalogue in the protocol's shape, `{"error": "<message>"}`. */
export function sendInferenceError(
  response: ServerResponse,
  code: ErrorCode,
  message: string,
  headers?: readonly string[],
): void {
  // Memory for bodies is free again as soon as others have sent theirs.
  const more = code === 'too_much_buffered' ? retryAfterHeader(1000) : headers;
  sendJson(response, ERROR_CATALOGUE[code].status, JSON.stringify({ error: message }), more);
}
