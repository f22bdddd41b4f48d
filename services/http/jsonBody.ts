import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { asServiceError, describeValue, ServiceError } from '../errors/index.js';
import { readBody, refuseBody, type BodyErrorReceiver } from './bodyBytes.js';

export interface JsonBodyReceiver extends BodyErrorReceiver {
  /** The body parsed as JSON. Called once, or `onBodyError` is. */
  onBody(value: unknown): void;
}

/**
 * Reads a request's body as JSON of at most `limitBytes`, as it is sent and as it decodes. A client that leaves before
 * the end is told nothing.
 */
export function readJsonBody(request: IncomingMessage, limitBytes: number, receiver: JsonBodyReceiver): void {
  const contentType = request.headers['content-type'];
  if (contentType !== 'application/json' && !isJsonType(contentType)) {
    const error = new ServiceError(
      'unsupported_media_type',
      `the Content-Type must be application/json, ${describeValue(contentType)} came`,
      'Content-Type',
    );
    refuseBody(request, receiver, error);
  } else readBody(request, limitBytes, receiver, parseBody);
}

function parseBody(body: Buffer | undefined, receiver: JsonBodyReceiver): void {
  let value: unknown;
  try {
    value = parseJson(body);
  } catch (error) {
    receiver.onBodyError(asServiceError(error));
    return;
  }
  receiver.onBody(value);
}

/** application/json with no parameter but charset=utf-8. */
export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const [type, ...parameters] = contentType.toLowerCase().split(';');
  if (type.trim() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name, value = ''] = parameter.trim().split('=');
    return name !== 'charset' || ['utf-8', 'utf8'].includes(value.replaceAll('"', ''));
  });
}

/**
 * The value of a body that is JSON.
 * @param body undefined: there is none
 * @throws ServiceError `not_json`, `not_utf8`
 */
export function parseJson(body: Buffer | undefined): unknown {
  if (body === undefined || body.length === 0) {
    throw new ServiceError('not_json', 'the body is empty; a JSON object was expected');
  }
  if (!isUtf8(body)) throw new ServiceError('not_utf8', 'the body is not valid UTF-8');
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw notJson(error);
  }
}

function notJson(cause: unknown): ServiceError {
  const detail = cause instanceof Error ? cause.message : 'unreadable';
  return new ServiceError('not_json', `the body is not JSON: ${detail}`, undefined, { cause });
}
