import { MAX_DEPTH } from './jsonLimits.js';

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_ARRAY = 91;
const OPEN_OBJECT = 123;

/** Whether a text that may be JSON is nested deeper than allowed. What the scan misjudges in text that is no JSON is refused later. */
export function isTooDeep(bytes: Buffer): boolean {
  // Most bodies have too few brackets for it, which the native search tells in no time.
  return openings(bytes, OPEN_ARRAY) + openings(bytes, OPEN_OBJECT) > MAX_DEPTH && deepest(bytes) > MAX_DEPTH;
}

/** How often a byte occurs, counted up to one more than the depth allowed. */
function openings(bytes: Buffer, byte: number): number {
  let count = 0;
  for (let at = bytes.indexOf(byte); at >= 0 && count <= MAX_DEPTH; at = bytes.indexOf(byte, at + 1))
    count += 1;
  return count;
}

function deepest(bytes: Buffer): number {
  let depth = 0;
  let most = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth > most) most = depth;
    } else if (byte === OPEN_ARRAY + 2 || byte === OPEN_OBJECT + 2) depth -= 1;
  }
  return most;
}
