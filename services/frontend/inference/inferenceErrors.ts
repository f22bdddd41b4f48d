import type { ServerResponse } from 'node:http';
import { ERROR_CATALOGUE, type ErrorCode } from '../../errors/index.js';
import { sendJson } from '../../http/index.js';

/** Answers with an error of the catalogue in the protocol's shape, `{"error": "<message>"}`. */
export function sendInferenceError(
  response: ServerResponse,
  code: ErrorCode,
  message: string,
  headers?: readonly string[],
): void {
  sendJson(response, ERROR_CATALOGUE[code].status, JSON.stringify({ error: message }), headers);
}
