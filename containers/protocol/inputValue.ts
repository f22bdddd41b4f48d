import type { InputType } from './frames.js';

/** What the bytes of an input say: numbers, a text, or the bytes themselves. */
export function inputValue(
  type: InputType,
  bytes: Uint8Array,
): string | Float64Array | Float32Array | Int32Array | Uint8Array {
  if (type === 'bytes') return bytes;
  if (type === 'strings') return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  // The bytes of an input may begin anywhere; numbers may not.
  const { buffer } = bytes.slice();
  if (type === 'doubles') return new Float64Array(buffer);
  return type === 'floats' ? new Float32Array(buffer) : new Int32Array(buffer);
}
