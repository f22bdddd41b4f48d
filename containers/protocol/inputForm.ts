import { ELEMENT_BYTES, type InputType } from './frames.js';

/** What a model takes, as it declares it: the one description that inputs are held to, wherever they come in. */
export interface InputForm {
  readonly type: InputType;
  /** Elements of an input, characters of a text; undefined: any number but 0. */
  readonly length?: number | undefined;
  /** Of every element; texts have none. Without it numbers are finite. */
  readonly range?: InputRange | undefined;
  /** Of strings that are rows: each is the JSON list of a value for each of these columns. */
  readonly columns?: readonly string[] | undefined;
}

export interface InputRange {
  /** undefined: no bound but the type's. */
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  /** NaN is taken, whatever the bounds: a value that is missing. In JSON it is null. */
  readonly missing?: true | undefined;
}

/**
 * The number of elements in an input's bytes; of a text its UTF-16 units, as JavaScript counts them. No whole number when
 * the bytes are no whole number of elements.
 */
export function elementCount(type: InputType, bytes: Uint8Array): number {
  if (type !== 'strings') return bytes.length / ELEMENT_BYTES[type];
  let units = 0;
  for (const byte of bytes) {
    if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}

/** @returns the index of the first element outside the form's range, or not finite; -1 when there is none. */
export function firstOutside(
  values: ArrayLike<number>,
  count: number,
  { type, range = {} }: InputForm,
): number {
  const { minimum, maximum } = boundsOf(type, range);
  const takesMissing = range.missing === true;
  for (let index = 0; index < count; index++) {
    const value = values[index];
    // False for NaN, too; x - x is 0 for finite numbers only.
    if (
      (!(value >= minimum && value <= maximum) || value - value !== 0) &&
      !(takesMissing && value !== value)
    ) {
      return index;
    }
  }
  return -1;
}

/** A bound is held to as an element could write it: 0.1 is a float that is a little larger than 0.1. */
function boundsOf(type: InputType, { minimum = -Infinity, maximum = Infinity }: InputRange) {
  if (type !== 'floats') return { minimum, maximum };
  return { minimum: Math.fround(minimum), maximum: Math.fround(maximum) };
}

/** For a message: `from 0 to 1`. */
export function rangeText({ minimum, maximum, missing }: InputRange = {}): string {
  const or = missing === true ? ', or missing (NaN)' : '';
  if (minimum !== undefined && maximum !== undefined) return `from ${minimum} to ${maximum}${or}`;
  if (minimum !== undefined) return `${minimum} or more${or}`;
  return maximum === undefined ? `a finite number${or}` : `${maximum} or less${or}`;
}

/** An input's bytes as numbers; they may begin anywhere in memory. */
export function inputNumbers(type: Exclude<InputType, 'strings'>, bytes: Uint8Array): ArrayLike<number> {
  if (type === 'bytes') return bytes;
  const elementBytes = ELEMENT_BYTES[type];
  const { buffer, byteOffset } = bytes.byteOffset % elementBytes === 0 ? bytes : bytes.slice();
  const count = Math.floor(bytes.length / elementBytes);
  switch (type) {
    case 'integers':
      return new Int32Array(buffer, byteOffset, count);
    case 'floats':
      return new Float32Array(buffer, byteOffset, count);
    case 'doubles':
      return new Float64Array(buffer, byteOffset, count);
  }
}

/** What is wrong with an input's bytes, or undefined. @param who takes it: `the model` */
export function inputProblem(form: InputForm, bytes: Uint8Array, who: string): string | undefined {
  const { type, length, range } = form;
  const found = elementCount(type, bytes);
  if (!Number.isInteger(found)) {
    return `${who} takes ${type} of ${ELEMENT_BYTES[type]} bytes each, the input has ${bytes.length} bytes`;
  }
  if (found === 0) return 'the input is empty: at least one element is needed';
  if (length !== undefined && found !== length)
    return `${who} takes ${length} ${type}, the input has ${found}`;
  if (type === 'strings') return undefined;
  const values = inputNumbers(type, bytes);
  const bad = firstOutside(values, values.length, form);
  if (bad < 0) return undefined;
  return `input[${bad}] must be ${rangeText(range)}, it is ${values[bad]}`;
}
