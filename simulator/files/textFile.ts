import { readGivenFile, START_FILE, WORK_FILE, type FileLimits } from './givenFile.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * A file's text, which is UTF-8; a byte order mark at its beginning is left out.
 * @throws Error whose message says what is wrong with the file, but does not name it when it could be read
 */
export function readTextFile(path: string, limits: FileLimits = WORK_FILE): string {
  return textOf(readGivenFile(path, limits));
}

/**
 * Certificates or keys, with what authorities write between them in any encoding; a byte order mark is left out.
 * @throws Error as `readGivenFile`
 */
export function readPemFile(path: string): string {
  const bytes = readGivenFile(path, START_FILE);
  const isMarked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return bytes.toString('latin1', isMarked ? BYTE_ORDER_MARK.length : 0);
}

/**
 * The JSON of a file.
 * @param prepare the text before it is parsed
 * @throws Error as `readTextFile`, and of what is no JSON
 */
export function readJsonFile(path: string, prepare = (json: string) => json): unknown {
  return parseJsonText(readTextFile(path), prepare);
}

/** @throws Error that says how a text is no JSON: that it is empty, or ends early */
export function parseJsonText(text: string, prepare = (json: string) => json): unknown {
  if (text.trim() === '') throw new Error('the file is empty; expected JSON');
  try {
    return JSON.parse(prepare(text));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    const isCut = /Unexpected end|Unterminated/.test(cause.message) || endsEarly(cause.message, text);
    throw new Error(
      isCut
        ? `it is no whole JSON: it ends early, after ${text.length} characters`
        : `it is no JSON: ${cause.message}`,
      { cause },
    );
  }
}

/** A fault where nothing follows any more: `Expected ',' or '}' after property value in JSON at position 12`. */
function endsEarly(message: string, text: string): boolean {
  const position = /at position (\d+)/.exec(message)?.[1];
  return position !== undefined && Number(position) >= text.trimEnd().length;
}

function textOf(bytes: Uint8Array): string {
  const encoding = otherEncoding(bytes);
  if (encoding !== undefined) throw new Error(`it is text in ${encoding}; save it as UTF-8`);
  const zero = bytes.indexOf(0);
  if (zero >= 0) throw new Error(`it is no text: byte ${zero} is 0`);
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    throw new Error(`it is no text in UTF-8: byte ${firstOther(bytes)} is part of no character`, { cause });
  }
}

function otherEncoding([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'UTF-16LE';
  if (first === 0xfe && second === 0xff) return 'UTF-16BE';
  return undefined;
}

/** Place of the first byte that is not of UTF-8: the longest beginning that is text ends there. */
function firstOther(bytes: Uint8Array): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isBeginning(bytes.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

/** Whether bytes are text, the last character of which may be cut off. */
function isBeginning(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
