import type { IncomingMessage } from 'node:http';
import { describeValue, ServiceError } from '../errors/index.js';
import { readJson } from '../json/index.js';
import { readBytes, refuseBody, type BodyErrorReceiver } from './bodyBytes.js';

export interface JsonBodyReceiver extends BodyErrorReceiver {
  /** The body parsed as JSON. Called once, or `onBodyError` is. */
  onBody(value: unknown): void;
}

/**
 * Reads a request's body as JSON of at most `limitBytes`, as it is sent and as it decodes. A client that leaves before
 * the end is told nothing.
 * @param fields of the object at the top that are read; undefined: all
 */
export function readJsonBody(
  request: IncomingMessage,
  limitBytes: number,
  receiver: JsonBodyReceiver,
  fields?: ReadonlySet<string>,
): void {
  const contentType = request.headers['content-type'];
  if (contentType !== 'application/json' && !isJsonType(contentType)) {
    const error = new ServiceError(
      'unsupported_media_type',
      `the Content-Type must be application/json, ${describeValue(contentType)} came`,
      'Content-Type',
    );
    refuseBody(request, receiver, error);
  } else {
    readBytes(request, limitBytes, {
      onBytes: (body) =>
        readJson(
          body,
          {
            onJson: (value) => receiver.onBody(value),
            onJsonError: (error) => receiver.onBodyError(error),
            isGone: () => request.socket.destroyed,
          },
          fields,
        ),
      onBodyError: (error) => receiver.onBodyError(error),
    });
  }
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
