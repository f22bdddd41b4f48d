import type { Json } from '../../selection/index.js';

const MOST_TEXT = 256;
const MOST_ITEMS = 16;
const MOST_BYTES = 4096;

/** A value as JSON of a few KiB at most: long texts and lists are cut, and say so. undefined stays. */
export function bounded(value: unknown): Json | undefined {
  if (value === undefined) return undefined;
  const text = JSON.stringify(value, cut);
  const bytes = Buffer.byteLength(text);
  if (bytes > MOST_BYTES) return { left_out: `${bytes} bytes` };
  return JSON.parse(text) as Json;
}

function cut(_name: string, value: unknown): unknown {
  if (typeof value === 'string' && value.length > MOST_TEXT) {
    // Not between the halves of one character.
    return `${value.slice(0, MOST_TEXT).replace(/[\uD800-\uDBFF]$/, '')}… (${value.length} characters)`;
  }
  if (Array.isArray(value) && value.length > MOST_ITEMS) {
    return [...(value as unknown[]).slice(0, MOST_ITEMS), `… (${value.length})`];
  }
  return value;
}
