import { readFileSync } from 'node:fs';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/**
 * A file's text, which is UTF-8; a byte order mark at its beginning is left out.
 * @throws Error whose message says what is wrong with the file, but does not name it when it could be read
 */
export function readTextFile(path: string): string {
  return textOf(readFileSync(path));
}

/**
 * The JSON of a file.
 * @param prepare the text before it is parsed
 * @throws Error as `readTextFile`, and of what is no JSON
 */
export function readJsonFile(path: string, prepare = (json: string) => json): unknown {
  const text = readTextFile(path);
  if (text.trim() === '') throw new Error('the file is empty; expected JSON');
  return JSON.parse(prepare(text));
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
