import { isUtf8 } from 'node:buffer';
import { ServiceError } from '../errors/index.js';
import {
  MAX_DEPTH,
  MAX_KEYS,
  MAX_NUMBER_BYTES,
  MAX_PARTS,
  MAX_VALUES,
  tooDeep,
  tooLongNumber,
  tooManyKeys,
  tooManyParts,
  tooManyValues,
} from './jsonLimits.js';
import { ExactInteger } from './exactInteger.js';
import { LONG_FROM, LongNumbers } from './longNumbers.js';
import { NumberReader } from './numberReader.js';
import { StringReader } from './stringReader.js';

type Container = unknown[] | LongNumbers | Record<string, unknown>;

/** What may come next. */
const VALUE = 0;
const VALUE_OR_END = 1;
const KEY = 2;
const KEY_OR_END = 3;
const COLON = 4;
const COMMA_OR_END = 5;
const STRING = 6;
const KEY_STRING = 7;
const DONE = 8;

const QUOTE = 34;
const COMMA = 44;
const COLON_BYTE = 58;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

const LITERALS: ReadonlyMap<number, readonly [string, unknown]> = new Map<number, readonly [string, unknown]>(
  [
    [116, ['true', true]],
    [102, ['false', false]],
    [110, ['null', null]],
  ],
);

/** Stands for a value that nobody reads: it is checked and not built. */
const SKIPPED = Symbol('skipped');

/** About what an array, an object or a string takes beside its content. */
const PART_BYTES = 48;

/** An array of fewer elements has much more room than it needs. */
const FEW = 16;

/** Where what is left of one piece is laid before the next. Of all parsers: no piece is looked at later. */
const SCRATCH = Buffer.allocUnsafeSlow(64 * 1024);
const NOTHING = Buffer.alloc(0);

/**
 * Parses JSON a piece at a time, with the results of `JSON.parse` (but for long arrays of numbers, which are
 * `LongNumbers`), and refuses what is too deep or too much before it is built. Of the object at the top only the fields
 * that somebody reads are built.
 */
export class JsonParser {
  private bytes: Buffer = NOTHING;
  private position = 0;
  /** Bytes before the first of `bytes`. */
  private base = 0;
  /** What the last piece left: a number, escape or character that it cut. */
  private carried: Buffer = NOTHING;
  private isLast = false;
  /** The rest of the piece is the beginning of something. */
  private isShort = false;
  private state = VALUE;
  private readonly stack: (Container | typeof SKIPPED)[] = [];
  /** Of each container on the stack: the key under which its next value goes; of arrays ''. */
  private readonly keys: string[] = [];
  private readonly keyCounts: number[] = [];
  private parts = 0;
  private values = 0;
  private stringBytes = 0;
  private result: unknown;
  private readonly numbers = new NumberReader();
  private readonly strings = new StringReader();

  /**
   * @param fields of the object at the top that are wanted; undefined: all
   * @param keepsIntegers fields whose value is an integer that no double holds have an `ExactInteger`
   */
  constructor(
    private readonly fields: ReadonlySet<string> | undefined,
    private readonly keepsIntegers = false,
  ) {}

  /** The value, once the last piece is parsed. */
  get value(): unknown {
    return this.result;
  }

  /** About what the value takes so far, in bytes. */
  get built(): number {
    return this.parts * PART_BYTES + this.values * 8 + this.stringBytes + this.strings.built;
  }

  /**
   * Parses the next piece, of which nothing is kept. The larger it is, the longer it takes.
   * @throws ServiceError `not_utf8`, `not_json`, `json_too_complex`
   */
  feed(piece: Buffer, isLast: boolean): void {
    const bytes = this.joined(piece);
    const end = isLast ? bytes.length : wholeCharacters(bytes);
    if (!isUtf8(bytes.subarray(0, end))) throw new ServiceError('not_utf8', 'the body is not valid UTF-8');
    this.bytes = bytes;
    this.position = 0;
    this.isLast = isLast;
    this.isShort = false;
    this.strings.takeUp(bytes, this.base);
    while (this.position < end && !this.isShort) this.step(end);
    if (isLast && this.state !== DONE) throw this.unexpected(this.position);
    this.carried = this.position < bytes.length ? Buffer.from(bytes.subarray(this.position)) : NOTHING;
    this.base += this.position;
    this.bytes = NOTHING;
  }

  private joined(piece: Buffer): Buffer {
    const { carried } = this;
    if (carried.length === 0) return piece;
    const length = carried.length + piece.length;
    if (length > SCRATCH.length) return Buffer.concat([carried, piece]);
    carried.copy(SCRATCH);
    piece.copy(SCRATCH, carried.length);
    return SCRATCH.subarray(0, length);
  }

  private step(end: number): void {
    const { bytes, state } = this;
    if (state === STRING || state === KEY_STRING) {
      this.continueString(end);
      return;
    }
    const byte = bytes[this.position];
    if (byte === 32 || byte === 10 || byte === 13 || byte === 9) {
      this.position += 1;
      return;
    }
    switch (state) {
      case VALUE_OR_END:
        if (byte === CLOSE_ARRAY) this.close();
        else this.beginValue(byte, end);
        return;
      case VALUE:
        this.beginValue(byte, end);
        return;
      case KEY_OR_END:
      case KEY:
        if (byte === QUOTE) this.beginString(KEY_STRING);
        else if (byte === CLOSE_OBJECT && state === KEY_OR_END) this.close();
        else throw this.unexpected(this.position);
        return;
      case COLON:
        if (byte !== COLON_BYTE) throw this.unexpected(this.position);
        this.position += 1;
        this.state = VALUE;
        return;
      case COMMA_OR_END:
        this.afterValue(byte);
        return;
      default:
        throw this.unexpected(this.position);
    }
  }

  private afterValue(byte: number): void {
    const isArray = this.isInArray;
    if (byte === COMMA) {
      this.position += 1;
      this.state = isArray ? VALUE : KEY;
    } else if (byte === (isArray ? CLOSE_ARRAY : CLOSE_OBJECT)) this.close();
    else throw this.unexpected(this.position);
  }

  /** Key counts of arrays are -1: a skipped container does not show what it is. */
  private get isInArray(): boolean {
    return this.keyCounts[this.keyCounts.length - 1] < 0;
  }

  private beginValue(byte: number, end: number): void {
    if (byte === QUOTE) {
      this.count();
      this.beginString(STRING);
    } else if (byte === OPEN_ARRAY) this.open([], -1, VALUE_OR_END);
    else if (byte === OPEN_OBJECT) this.open({}, 0, KEY_OR_END);
    else {
      const literal = LITERALS.get(byte);
      if (literal === undefined) this.readNumbers(end);
      else this.readLiteral(literal);
    }
  }

  private open(container: Container, keyCount: number, state: number): void {
    const { stack } = this;
    if (stack.length >= MAX_DEPTH) throw tooDeep();
    const built = this.isWanted ? container : SKIPPED;
    if (built !== SKIPPED) this.count();
    stack.push(built);
    this.keys.push('');
    this.keyCounts.push(keyCount);
    this.position += 1;
    this.state = state;
  }

  private close(): void {
    const closed = this.stack.pop();
    this.keys.pop();
    this.keyCounts.pop();
    this.position += 1;
    if (closed instanceof LongNumbers) closed.finish();
    // As it grew it has room for 17; of a batch of short inputs thousands are kept.
    this.put(Array.isArray(closed) && closed.length < FEW ? closed.slice() : closed);
    this.ended();
  }

  /** Whether the value that begins is built. */
  private get isWanted(): boolean {
    const { stack, fields } = this;
    const depth = stack.length;
    if (depth === 0) return true;
    if (stack[depth - 1] === SKIPPED) return false;
    return depth > 1 || fields === undefined || this.isInArray || fields.has(this.keys[0]);
  }

  private count(): void {
    if (!this.isWanted) return;
    this.parts += 1;
    if (this.parts > MAX_PARTS) throw tooManyParts();
  }

  private put(value: unknown): void {
    const { stack } = this;
    const top = stack.length - 1;
    if (top < 0) {
      this.result = value;
      return;
    }
    const container = stack[top];
    if (container === SKIPPED || value === SKIPPED) return;
    this.values += 1;
    if (this.values > MAX_VALUES) throw tooManyValues();
    if (Array.isArray(container)) container.push(value);
    else if (container instanceof LongNumbers) {
      if (typeof value === 'number') container.add(value);
      else container.addOther(value);
    } else if (this.isWanted) setField(container, this.keys[top], value);
  }

  private ended(): void {
    this.state = this.stack.length === 0 ? DONE : COMMA_OR_END;
  }

  private readLiteral([text, value]: readonly [string, unknown]): void {
    const { bytes, position } = this;
    if (position + text.length > bytes.length && !this.isLast) {
      this.isShort = true;
      return;
    }
    if (bytes.toString('latin1', position, position + text.length) !== text) throw this.unexpected(position);
    this.position += text.length;
    this.put(value);
    const container = this.stack.at(-1);
    if (Array.isArray(container) && container.length > LONG_FROM) this.lengthen(container);
    this.ended();
  }

  /** One number; in an array also those that follow it without a space, up to `end`. */
  private readNumbers(end: number): void {
    const { bytes, numbers, stack } = this;
    const top = stack.length - 1;
    for (;;) {
      const isNumber = numbers.read(bytes, this.position);
      if (numbers.end - this.position > MAX_NUMBER_BYTES) throw tooLongNumber();
      // It may go on in the next piece.
      if (numbers.end >= bytes.length && !this.isLast) {
        this.isShort = true;
        return;
      }
      if (!isNumber) throw this.unexpected(numbers.end);
      const start = this.position;
      this.position = numbers.end;
      const container = stack[top];
      if (Array.isArray(container)) {
        container.push(numbers.value);
        if (container.length > LONG_FROM) this.lengthen(container);
      } else if (container instanceof LongNumbers) container.add(numbers.value);
      else {
        const isExact = !this.keepsIntegers || Number.isSafeInteger(numbers.value);
        this.put(isExact ? numbers.value : exactly(bytes, start, numbers.end, numbers.value));
        break;
      }
      this.values += 1;
      if (this.values > MAX_VALUES) throw tooManyValues();
      const { position } = this;
      if (position + 1 >= end || bytes[position] !== COMMA) break;
      const next = bytes[position + 1];
      if (next < 45 || next > 57 || next === 46 || next === 47) break;
      this.position += 1;
      this.state = VALUE;
    }
    this.ended();
  }

  /** Of an array that has become long, and whose elements are not all such as count as parts. */
  private lengthen(elements: readonly unknown[]): void {
    const most = elements.length + MAX_VALUES - this.values;
    this.stack[this.stack.length - 1] = LongNumbers.of(elements, most);
  }

  private beginString(state: number): void {
    this.position += 1;
    const isRead = state === STRING ? this.isWanted : this.stack[this.stack.length - 1] !== SKIPPED;
    this.strings.begin(this.position, isRead);
    this.state = state;
  }

  private continueString(end: number): void {
    const { strings } = this;
    if (!strings.advance(end)) {
      this.position = strings.cut();
      this.isShort = true;
      return;
    }
    this.position = strings.position;
    const text = strings.take();
    this.stringBytes += text.length;
    if (this.state === STRING) {
      this.put(text);
      this.ended();
      return;
    }
    const top = this.keys.length - 1;
    this.keyCounts[top] += 1;
    if (this.keyCounts[top] > MAX_KEYS && this.stack[top] !== SKIPPED) throw tooManyKeys();
    this.keys[top] = text;
    this.state = COLON;
  }

  private unexpected(at: number): ServiceError {
    return unexpectedByte(this.bytes, at, this.base);
  }
}

/** An integer as it came where it is one that a double may not hold. */
function exactly(bytes: Buffer, start: number, end: number, value: number): unknown {
  const text = bytes.toString('latin1', start, end);
  return /^-?\d+$/.test(text) ? new ExactInteger(text) : value;
}

/** How many of the bytes are whole characters of UTF-8, if they are UTF-8 at all. */
function wholeCharacters(bytes: Buffer): number {
  const { length } = bytes;
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back];
    if (byte < 0x80) return length;
    if (byte >= 0xc0) {
      const bytesOfIt = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return bytesOfIt > back ? length - back : length;
    }
  }
  return length;
}

function unexpectedByte(bytes: Buffer, at: number, base: number): ServiceError {
  if (at >= bytes.length) return new ServiceError('not_json', 'the body is not JSON: it ends too early');
  const shown = JSON.stringify(bytes.toString('utf8', at, at + 4).slice(0, 1));
  return new ServiceError('not_json', `the body is not JSON: unexpected ${shown} at byte ${base + at}`);
}

function setField(container: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    // As JSON.parse does: a field like any other.
    Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
  } else container[key] = value;
}
