import type { IncomingMessage } from 'node:http';
import { describeValue, ServiceError } from '../errors/index.js';
import type { Socket } from 'node:net';
import { readJson, type JsonReceiver } from '../json/index.js';
import { openBody, refuseBody, type BodyLimits, type BodyReader, type OpenBody } from './openBody.js';
import { StreamedJson, type JsonBodyForm, type JsonBodyReceiver } from './streamedJson.js';

/**
 * Reads a request's body as JSON. A client that leaves before the end is told nothing.
 * @param fields of the object at the top that are read; undefined: all
 * @param keepsIntegers as in `JsonBodyForm`
 */
export function readJsonBody(
  request: IncomingMessage,
  limits: BodyLimits,
  receiver: JsonBodyReceiver,
  fields?: ReadonlySet<string>,
  keepsIntegers = false,
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
    streamJson(request, limits, receiver, { fields, keepsIntegers });
  }
}

/** Reads a request's body as JSON, whatever its Content-Type. */
export function streamJson(
  request: IncomingMessage,
  limits: BodyLimits,
  receiver: JsonBodyReceiver,
  form: JsonBodyForm,
): void {
  openBody(request, limits, new JsonBody(limits, receiver, form));
}

class JsonBody implements BodyReader, JsonReceiver {
  constructor(
    private readonly limits: BodyLimits,
    private readonly receiver: JsonBodyReceiver,
    private readonly form: JsonBodyForm,
  ) {}

  onWhole(body: Buffer): void {
    const { fields, emptyBody, keepsIntegers } = this.form;
    if (body.length === 0 && emptyBody !== undefined) this.onJson(emptyBody);
    else readJson(body, this, fields, keepsIntegers);
  }

  onPieces(body: OpenBody): void {
    new StreamedJson(body, this.limits, this.receiver, this.form);
  }

  onJson(value: unknown): void {
    this.receiver.onBody(value);
  }

  onJsonError(error: ServiceError): void {
    this.receiver.onBodyError(error);
  }

  onBodyError(error: ServiceError): void {
    this.receiver.onBodyError(error);
  }
}

/** Parses the JSON of a body, and releases its bytes when that is done or the client is gone. */
export function readHeldJson(
  json: Buffer,
  socket: Socket,
  release: () => void,
  { onJson, onJsonError }: Pick<JsonReceiver, 'onJson' | 'onJsonError'>,
  { fields, keepsIntegers }: JsonBodyForm,
): void {
  const receiver: JsonReceiver = {
    onJson: (value) => {
      release();
      onJson(value);
    },
    onJsonError: (error) => {
      release();
      onJsonError(error);
    },
    isGone: () => {
      if (socket.destroyed) release();
      return socket.destroyed;
    },
  };
  readJson(json, receiver, fields, keepsIntegers);
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
