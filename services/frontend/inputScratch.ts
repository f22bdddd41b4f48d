import type { InputType } from '../../containers/protocol/index.js';

/*
 * One area through which inputs are written and read as numbers: a typed array and its buffer for every query would cost
 * two allocations, and a view of another type on a small array makes V8 move its memory out of the heap.
 */
let doubles = new Float64Array(1024);
let floats = new Float32Array(doubles.buffer);
let integers = new Int32Array(doubles.buffer);
let bytes = new Uint8Array(doubles.buffer);

type NumberType = Exclude<InputType, 'strings' | 'bytes'>;

/** The area, with room for so many elements of any type; what is written to it stands until the next call. */
export function scratchFor(type: NumberType, elements: number): Float64Array | Float32Array | Int32Array {
  if (elements > doubles.length) {
    doubles = new Float64Array(elements * 2);
    floats = new Float32Array(doubles.buffer);
    integers = new Int32Array(doubles.buffer);
    bytes = new Uint8Array(doubles.buffer);
  }
  if (type === 'doubles') return doubles;
  return type === 'floats' ? floats : integers;
}

/** A copy of what was written. */
export function takeScratch(byteCount: number): Uint8Array {
  return bytes.slice(0, byteCount);
}

/** An input's bytes as numbers, until the next use of the area. */
export function asNumbers(type: InputType, input: Uint8Array): ArrayLike<number> {
  if (type === 'bytes' || type === 'strings') return input;
  const numbers = scratchFor(type, Math.ceil(input.length / 4));
  bytes.set(input);
  return numbers;
}
