import { ServiceError } from '../errors/index.js';
import { readPredictRequest, type PredictRequest } from './requests.js';

/** Whether a body is the bytes of one input. */
export function isOctetStream(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType.length < OCTET_STREAM.length) return false;
  if (contentType === OCTET_STREAM) return true;
  return contentType.split(';', 1)[0].trim().toLowerCase() === OCTET_STREAM;
}

const OCTET_STREAM = 'application/octet-stream';

/**
 * The request that a body of bytes makes: what its fields would say stands in the query of the URL.
 * @returns a request whose input are bytes that are not checked yet
 * @throws ServiceError that names the parameter
 */
export function readOctetStreamRequest(url: string, body: Uint8Array): PredictRequest {
  const at = url.indexOf('?');
  // A small one is a part of what was read from the socket, which would live as long as the input does.
  const isWhole = body.byteLength === body.buffer.byteLength;
  const input = isWhole ? new Uint8Array(body.buffer) : new Uint8Array(body);
  const fields: Record<string, unknown> = { input };
  if (at >= 0) {
    const given = readUrlQuery(url.slice(at + 1));
    for (const name of OCTET_PARAMETER_NAMES) {
      const texts = given.getAll(name);
      if (texts.length > 1) {
        throw new ServiceError('conflicting_fields', `${name} stands ${texts.length} times in the URL`, name);
      }
      if (texts.length === 1) fields[name] = PARAMETERS[name](texts[0]);
    }
  }
  return readPredictRequest(fields);
}

/** URLSearchParams alone would put U+FFFD for what it cannot decode, and two contexts could become one. */
function readUrlQuery(text: string): URLSearchParams {
  try {
    decodeURIComponent(text);
  } catch (cause) {
    const message = 'the query of the URL has a percent-encoding that is not valid UTF-8';
    throw new ServiceError('malformed_url', message, undefined, { cause });
  }
  return new URLSearchParams(text);
}

// What reads as nothing stays a text, which the reader of fields refuses by name.
const flag = (text: string): unknown => (text === 'true' ? true : text === 'false' ? false : text);
const number = (text: string): unknown => (/^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text);
const plain = (text: string): unknown => text;
const json = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const PARAMETERS = {
  version: plain,
  uid: plain,
  context: plain,
  latency_slo_micros: number,
  priority: number,
  launch_class: plain,
  strict: flag,
  votes: flag,
  features: json,
} as const;

/** Fields of a request that the query of the URL may have. */
export const OCTET_PARAMETER_NAMES = Object.keys(PARAMETERS) as readonly (keyof typeof PARAMETERS)[];
