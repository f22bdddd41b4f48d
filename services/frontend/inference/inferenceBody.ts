import type { IncomingMessage } from 'node:http';
import { asServiceError, describeValue, ServiceError } from '../../errors/index.js';
import {
  isJsonType,
  readBytes,
  readHeldJson,
  refuseBody,
  streamJson,
  type BodyLimits,
} from '../../http/index.js';
import { BinaryPart, JSON_LENGTH_HEADER } from './binaryData.js';

export interface InferenceBodyReceiver {
  /** @param json the body, or the part of it that the header names; `binary` is the rest. */
  onBody(json: unknown, binary: BinaryPart): void;
  onBodyError(error: ServiceError): void;
}

/**
 * Reads the body of a request of the protocol: JSON, and binary data behind it where a header says so. Clients of the
 * protocol seldom name a Content-Type; what some name for either is `application/octet-stream`.
 * @param emptyBody what a body of no bytes stands for; undefined: it is refused
 */
export function readInferenceBody(
  request: IncomingMessage,
  limits: BodyLimits,
  receiver: InferenceBodyReceiver,
  emptyBody?: object,
): void {
  const contentType = request.headers['content-type'];
  if (contentType !== undefined && contentType !== OCTET_STREAM && !isJsonType(contentType)) {
    const message = `the Content-Type must be application/json or ${OCTET_STREAM}, ${describeValue(contentType)} came`;
    refuseBody(request, receiver, new ServiceError('unsupported_media_type', message, 'Content-Type'));
    return;
  }
  if (request.headers[JSON_LENGTH_HEADER] === undefined) {
    const onBody = (json: unknown) => receiver.onBody(json, new BinaryPart(undefined));
    const onBodyError = (error: ServiceError) => receiver.onBodyError(error);
    streamJson(request, limits, { onBody, onBodyError }, { ...REQUEST, emptyBody });
    return;
  }
  readBytes(request, limits, {
    onBytes: (body, release) => {
      let jsonBytes: number;
      try {
        jsonBytes = jsonLength(request, body.length);
      } catch (thrown) {
        release();
        receiver.onBodyError(asServiceError(thrown));
        return;
      }
      const binary = new BinaryPart(body.subarray(jsonBytes));
      const whole = {
        onJson: (json: unknown) => receiver.onBody(json, binary),
        onJsonError: (error: ServiceError) => receiver.onBodyError(error),
      };
      readHeldJson(body.subarray(0, jsonBytes), request.socket, release, whole, REQUEST);
    },
    onBodyError: (error) => receiver.onBodyError(error),
  });
}

/** What requests of the protocol have; other fields are ignored. */
const REQUEST = {
  fields: new Set(['id', 'parameters', 'inputs', 'outputs', 'ready']),
  // Parameters are answered as they came.
  keepsIntegers: true,
} as const;

export const OCTET_STREAM = 'application/octet-stream';

/** What the header says; it counts bytes of the body as it decodes. */
function jsonLength(request: IncomingMessage, bodyBytes: number): number {
  const text = request.headers[JSON_LENGTH_HEADER];
  const length = typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (length >= 1 && length <= bodyBytes) return length;
  throw new ServiceError(
    'invalid_value',
    `Inference-Header-Content-Length must be a whole number from 1 to the length of the body, ${bodyBytes}; ${describeValue(text)} came`,
    'Inference-Header-Content-Length',
  );
}
