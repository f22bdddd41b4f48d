import { isUtf8 } from 'node:buffer';
import { asServiceError, ServiceError } from '../errors/index.js';
import { MANY_DIGITS } from './exactInteger.js';
import { isTooDeep } from './jsonDepth.js';
import { tooDeep } from './jsonLimits.js';
import { JsonParser } from './jsonParser.js';
import { TURNS, type LongTask } from './turns.js';

/** Up to this size, in bytes, the native parser is no burden to others, whatever the bytes are. */
export const SMALL_BYTES = 16 * 1024;

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
 * @param keepsIntegers fields whose value is an integer that no double holds have an `ExactInteger`
 */
export function readJson(
  body: Buffer,
  receiver: JsonReceiver,
  fields?: ReadonlySet<string>,
  keepsIntegers = false,
): void {
  if (body.length > SMALL_BYTES) {
    TURNS.run(new JsonTask(body, receiver, fields, keepsIntegers));
    return;
  }
  let value: unknown;
  try {
    value =
      keepsIntegers && MANY_DIGITS.test(body.toString('latin1')) ? parseKeeping(body) : parseSmall(body);
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

function parseKeeping(body: Buffer): unknown {
  const parser = new JsonParser(undefined, true);
  parser.feed(body, true);
  return parser.value;
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
  private at = 0;

  constructor(
    private readonly body: Buffer,
    private readonly receiver: JsonReceiver,
    fields: ReadonlySet<string> | undefined,
    keepsIntegers: boolean,
  ) {
    this.parser = new JsonParser(fields, keepsIntegers);
  }

  get remaining(): number {
    return this.body.length - this.at;
  }

  step(): boolean {
    const { body, parser, receiver } = this;
    if (receiver.isGone?.() === true) return true;
    const end = Math.min(body.length, this.at + STEP_BYTES);
    try {
      parser.feed(body.subarray(this.at, end), end === body.length);
    } catch (error) {
      receiver.onJsonError(asServiceError(error));
      return true;
    }
    this.at = end;
    if (end < body.length) return false;
    receiver.onJson(parser.value);
    return true;
  }
}

/** Who gives a stream of JSON its pieces. */
export interface JsonSource {
  /** About how much more comes, in bytes. */
  readonly remaining: number;
  /** All that was given is parsed: gives more. */
  onParsed(built: number): void;
}

/** JSON that is parsed as it comes: neither its text nor what nobody reads of it takes memory. */
export class JsonStream implements LongTask {
  private readonly parser: JsonParser;
  private piece: Buffer | undefined;
  private at = 0;
  private isLast = false;

  constructor(
    private readonly source: JsonSource,
    private readonly receiver: JsonReceiver,
    fields: ReadonlySet<string> | undefined,
    keepsIntegers: boolean,
  ) {
    this.parser = new JsonParser(fields, keepsIntegers);
  }

  get remaining(): number {
    return this.source.remaining;
  }

  /** Takes the next piece, once the one before is parsed: `onParsed`, perhaps before this returns, or the receiver says so. */
  give(piece: Buffer, isLast: boolean): void {
    this.piece = piece;
    this.at = 0;
    this.isLast = isLast;
    TURNS.run(this);
  }

  step(): boolean {
    const { parser, piece, receiver } = this;
    if (piece === undefined || receiver.isGone?.() === true) return true;
    const end = Math.min(piece.length, this.at + STEP_BYTES);
    try {
      parser.feed(piece.subarray(this.at, end), this.isLast && end === piece.length);
    } catch (error) {
      this.piece = undefined;
      receiver.onJsonError(asServiceError(error));
      return true;
    }
    this.at = end;
    if (end < piece.length) return false;
    this.piece = undefined;
    if (this.isLast) receiver.onJson(parser.value);
    else this.source.onParsed(parser.built);
    return true;
  }
}
