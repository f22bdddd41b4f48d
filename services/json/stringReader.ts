import { ServiceError } from '../errors/index.js';
import { LongText, textOf } from './longText.js';

/** From here on a string that comes in pieces is gathered outside the heap. */
const LONG_FROM = 16 * 1024;

const QUOTE = 34;
const BACKSLASH = 92;
const SPACE = 32;
const LETTER_U = 117;

/** Reads one string of JSON after the other, each a piece of the text at a time. */
export class StringReader {
  position = 0;
  private bytes: Buffer = Buffer.alloc(0);
  private start = 0;
  private text = '';
  /** What follows a beginning that is long. */
  private readonly rest = new LongText();
  private hasEscape = false;
  private isBuilt = true;
  /** The last byte was a backslash that begins an escape. */
  private isEscaped = false;
  /** A part must not end within `\\u1234`: from here on it may. */
  private wholeFrom = 0;
  /** All bytes of the part, together. */
  private bits = 0;
  /** Bytes of the text before those of this piece. */
  private base = 0;

  /** Characters of the string that is being read. */
  get built(): number {
    return this.text.length + this.rest.length;
  }

  /** The next piece of the text: it begins with what a string that was cut has left. */
  takeUp(bytes: Buffer, base: number): void {
    this.base = base;
    this.bytes = bytes;
    this.position = 0;
    this.beginPart(0);
  }

  /** @param start behind the opening quote. @param isBuilt false: nobody reads it, and it is only checked. */
  begin(start: number, isBuilt: boolean): void {
    this.position = start;
    this.isBuilt = isBuilt;
    this.beginPart(start);
  }

  /** Goes on up to `end`. @returns whether the closing quote came; `position` is behind it */
  advance(end: number): boolean {
    const { bytes } = this;
    let at = this.position;
    while (at < end) {
      const byte = bytes[at];
      if (byte < SPACE) throw controlCharacter(this.base + at);
      if (this.isEscaped) {
        this.isEscaped = false;
        this.wholeFrom = byte === LETTER_U ? at + 5 : at + 1;
      } else if (byte === QUOTE) {
        this.position = at + 1;
        this.endPart(at);
        return true;
      } else if (byte === BACKSLASH) {
        this.isEscaped = true;
        this.hasEscape = true;
      }
      this.bits |= byte;
      at += 1;
    }
    this.position = at;
    return false;
  }

  /** The piece ends within the string. @returns up to where it is read: the rest is the beginning of an escape */
  cut(): number {
    if (this.isEscaped) this.position -= 1;
    else if (this.wholeFrom > this.position) this.position = this.wholeFrom - 6;
    this.endPart(this.position);
    return this.position;
  }

  take(): string {
    const { rest, text } = this;
    this.text = '';
    return rest.length === 0 ? text : text + rest.take();
  }

  private beginPart(at: number): void {
    this.start = at;
    this.hasEscape = false;
    this.isEscaped = false;
    this.wholeFrom = 0;
    this.bits = 0;
  }

  private endPart(end: number): void {
    const { bits, bytes, hasEscape, rest, start, text } = this;
    const isLong = text.length >= LONG_FROM;
    if (hasEscape) {
      const part = parseEscapes(bytes.toString('utf8', start, end), this.base + start);
      if (!this.isBuilt) return;
      if (isLong) rest.addText(part);
      else this.text = text + part;
    } else if (this.isBuilt && end > start) {
      if (isLong) rest.add(bytes, start, end, bits);
      else this.text = text === '' ? textOf(bytes, start, end, bits) : text + textOf(bytes, start, end, bits);
    }
  }
}

function parseEscapes(content: string, start: number): string {
  try {
    return JSON.parse(`"${content}"`) as string;
  } catch (cause) {
    const message = `the body is not JSON: a bad escape in the string at byte ${start}`;
    throw new ServiceError('not_json', message, undefined, { cause });
  }
}

function controlCharacter(at: number): ServiceError {
  return new ServiceError('not_json', `the body is not JSON: a bare control character at byte ${at}`);
}
