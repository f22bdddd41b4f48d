import { isUtf8 } from 'node:buffer';
import { asServiceError, ServiceError } from '../errors/index.js';
import { isTooDeep } from './jsonDepth.js';
import { tooDeep } from './jsonLimits.js';
import { JsonParser } from './jsonParser.js';
import { TURNS, type LongTask } from './turns.js';

/** Up to this size the native parser is no burden to others, whatever the bytes are. */
const SMALL_BYTES = 16 * 1024;

/** Of one step of a large body. */
const STEP_BYTES = 16 * 1024;

export interface JsonReceiver {
  onJson(value: unknown): void;
  /** `not_json`, `not_utf8`, `json_too_complex` */
  onJsonError(error: ServiceError): void;
  /** Nobody waits any more: the rest is not parsed, and nothing is told. */
  isGone?(): boolean;
}

/**
 * Parses a body of JSON: a small one at once, a large one in slices between which others are served.
 * @param fields of the object at the top that are read; the others are checked, and of large bodies not built
 */
export function readJson(body: Buffer, receiver: JsonReceiver, fields?: ReadonlySet<string>): void {
  if (body.length > SMALL_BYTES) {
    TURNS.run(new JsonTask(body, receiver, fields));
    return;
  }
  let value: unknown;
  try {
    value = parseSmall(body);
  } catch (error) {
    receiver.onJsonError(asServiceError(error));
    return;
  }
  receiver.onJson(value);
}

/** Whether it is parsed before `readJson` returns. */
export function isSmallJson(body: Buffer): boolean {
  return body.length <= SMALL_BYTES;
}

function parseSmall(body: Buffer): unknown {
  if (body.length === 0) throw new ServiceError('not_json', 'the body is empty; a JSON object was expected');
  if (!isUtf8(body)) throw new ServiceError('not_utf8', 'the body is not valid UTF-8');
  if (isTooDeep(body)) throw tooDeep();
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : 'unreadable';
    throw new ServiceError('not_json', `the body is not JSON: ${detail}`, undefined, { cause });
  }
}

class JsonTask implements LongTask {
  private readonly parser: JsonParser;

  constructor(
    body: Buffer,
    private readonly receiver: JsonReceiver,
    fields: ReadonlySet<string> | undefined,
  ) {
    this.parser = new JsonParser(body, fields);
  }

  get remaining(): number {
    return this.parser.remaining;
  }

  step(): boolean {
    const { parser, receiver } = this;
    if (receiver.isGone?.() === true) return true;
    try {
      if (!parser.advance(STEP_BYTES)) return false;
    } catch (error) {
      receiver.onJsonError(asServiceError(error));
      return true;
    }
    receiver.onJson(parser.value);
    return true;
  }
}
