import { isUtf8 } from 'node:buffer';
import { ServiceError } from '../errors/index.js';
import {
  MAX_DEPTH,
  MAX_KEYS,
  MAX_PARTS,
  MAX_VALUES,
  tooDeep,
  tooManyKeys,
  tooManyParts,
  tooManyValues,
} from './jsonLimits.js';
import { NumberReader } from './numberReader.js';
import { StringReader } from './stringReader.js';

type Container = unknown[] | Record<string, unknown>;

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

/**
 * Parses JSON of bytes a piece at a time, with the results of `JSON.parse`, and refuses what is too deep or too much
 * before it is built. Of the object at the top only the fields that somebody reads are built.
 */
export class JsonParser {
  private position = 0;
  private state = VALUE;
  private readonly stack: (Container | typeof SKIPPED)[] = [];
  /** Of each container on the stack: the key under which its next value goes; of arrays ''. */
  private readonly keys: string[] = [];
  private readonly keyCounts: number[] = [];
  private parts = 0;
  private values = 0;
  private result: unknown;
  private readonly numbers = new NumberReader();
  private readonly strings: StringReader;
  private isChecked = false;

  /** @param fields of the object at the top that are wanted; undefined: all */
  constructor(
    private readonly bytes: Buffer,
    private readonly fields: ReadonlySet<string> | undefined,
  ) {
    this.strings = new StringReader(bytes);
  }

  /** Bytes that are still to be parsed. */
  get remaining(): number {
    return this.bytes.length - this.position;
  }

  /** The value, once `advance` has said that it is there. */
  get value(): unknown {
    return this.result;
  }

  /**
   * Parses about so many bytes more. @returns whether the whole text is parsed
   * @throws ServiceError `not_utf8`, `not_json`, `json_too_complex`
   */
  advance(count: number): boolean {
    const { bytes } = this;
    if (!this.isChecked) {
      if (!isUtf8(bytes)) throw new ServiceError('not_utf8', 'the body is not valid UTF-8');
      this.isChecked = true;
    }
    const end = Math.min(bytes.length, this.position + count);
    while (this.position < end) this.step(end);
    if (this.position < bytes.length) return false;
    if (this.state !== DONE) throw this.unexpected(this.position);
    return true;
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
    this.put(built);
    stack.push(built);
    this.keys.push('');
    this.keyCounts.push(keyCount);
    this.position += 1;
    this.state = state;
  }

  private close(): void {
    this.stack.pop();
    this.keys.pop();
    this.keyCounts.pop();
    this.position += 1;
    this.state = this.stack.length === 0 ? DONE : COMMA_OR_END;
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
    else if (this.isWanted) setField(container, this.keys[top], value);
  }

  private ended(): void {
    this.state = this.stack.length === 0 ? DONE : COMMA_OR_END;
  }

  private readLiteral([text, value]: readonly [string, unknown]): void {
    const { bytes, position } = this;
    if (bytes.toString('latin1', position, position + text.length) !== text) throw this.unexpected(position);
    this.position += text.length;
    this.put(value);
    this.ended();
  }

  /** One number; in an array also those that follow it without a space, up to `end`. */
  private readNumbers(end: number): void {
    const { bytes, numbers, stack } = this;
    const container = stack[stack.length - 1];
    for (;;) {
      if (!numbers.read(bytes, this.position)) throw this.unexpected(numbers.end);
      this.position = numbers.end;
      if (!Array.isArray(container)) {
        this.put(numbers.value);
        break;
      }
      this.values += 1;
      if (this.values > MAX_VALUES) throw tooManyValues();
      container.push(numbers.value);
      const { position } = this;
      if (position + 1 >= end || bytes[position] !== COMMA) break;
      const next = bytes[position + 1];
      if (next < 45 || next > 57 || next === 46 || next === 47) break;
      this.position += 1;
    }
    this.ended();
  }

  private beginString(state: number): void {
    this.position += 1;
    const isRead = state === STRING ? this.isWanted : this.stack[this.stack.length - 1] !== SKIPPED;
    this.strings.begin(this.position, isRead);
    this.state = state;
  }

  private continueString(end: number): void {
    const { strings } = this;
    const isWhole = strings.advance(end);
    this.position = strings.position;
    if (!isWhole) return;
    const text = strings.take();
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
    return unexpectedByte(this.bytes, at);
  }
}

function unexpectedByte(bytes: Buffer, at: number): ServiceError {
  if (at >= bytes.length) return new ServiceError('not_json', 'the body is not JSON: it ends too early');
  const shown = JSON.stringify(bytes.toString('utf8', at, at + 4).slice(0, 1));
  return new ServiceError('not_json', `the body is not JSON: unexpected ${shown} at byte ${at}`);
}

function setField(container: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    // As JSON.parse does: a field like any other.
    Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
  } else container[key] = value;
}
