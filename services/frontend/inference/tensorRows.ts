import { ELEMENT_BYTES, type InputForm, type InputType } from '../../../containers/protocol/index.js';
import { describeValue, ServiceError } from '../../errors/index.js';
import { LongNumbers } from '../../json/index.js';
import { firstOutsideForm, outsideRange } from '../inputErrors.js';
import { MAX_FLOAT32 } from '../schemas.js';

/** Inputs of one request, each made when it is asked for. */
export interface InputRows {
  readonly count: number;
  /** Of all of them. */
  readonly bytes: number;
  row(index: number): Uint8Array;
}

/** Rows that are there. */
export function rowsOf(rows: readonly Uint8Array[]): InputRows {
  return {
    count: rows.length,
    bytes: rows.reduce((sum, row) => sum + row.length, 0),
    row: (index) => rows[index],
  };
}

/** The innermost arrays of a tensor's data, in order: all of the same length. */
export type Leaf = readonly unknown[] | LongNumbers;

/** The innermost arrays of data that is flat, or nested exactly as the shape says. */
export function leavesOf(data: unknown, shape: readonly number[], place: string): readonly Leaf[] {
  if (data === undefined) throw new ServiceError('missing_field', `${place} is required`, place);
  if (!isLeaf(data)) {
    throw new ServiceError('wrong_type', `${place} must be an array, ${describeValue(data)} came`, place);
  }
  const total = shape.reduce((product, size) => product * size, 1);
  if (shape.length === 1 || data instanceof LongNumbers || !isLeaf(data[0])) {
    if (data.length === total) return [data];
    const message = `${place} has ${data.length} elements, the shape [${shape.join(', ')}] has ${total}`;
    throw new ServiceError('wrong_length', message, place);
  }
  const leaves: Leaf[] = [];
  collect(data, shape, 0, place, leaves);
  return leaves;
}

function isLeaf(value: unknown): value is Leaf {
  return Array.isArray(value) || value instanceof LongNumbers;
}

function collect(part: unknown, shape: readonly number[], depth: number, place: string, into: Leaf[]): void {
  if (!isLeaf(part)) {
    const message = `${place} must be an array of ${shape[depth]}, ${describeValue(part)} came`;
    throw new ServiceError('wrong_type', message, place);
  }
  if (part.length !== shape[depth]) {
    const message = `${place} has ${part.length} elements, the shape says ${shape[depth]}`;
    throw new ServiceError('wrong_length', message, place);
  }
  if (depth === shape.length - 1) into.push(part);
  else {
    let at = 0;
    for (const inner of part) collect(inner, shape, depth + 1, `${place}[${at++}]`, into);
  }
}

/** What an element of each type may be. */
const RANGES = {
  floats: { fits: (value: number) => Math.abs(value) <= MAX_FLOAT32, says: 'a finite number of FP32' },
  doubles: { fits: (value: number) => Number.isFinite(value), says: 'a finite number of FP64' },
  integers: { fits: (value: number) => (value | 0) === value, says: 'a whole number of INT32' },
  bytes: { fits: (value: number) => (value & 255) === value, says: 'a whole number from 0 to 255' },
  strings: { fits: () => false, says: 'a string' },
} as const satisfies Record<InputType, { fits(value: number): boolean; says: string }>;

/**
 * Rows of numbers, checked at once and each encoded when it is asked for: so the memory of many is touched in turns.
 * @throws ServiceError that names the first element that cannot be
 */
export class NumberRows implements InputRows {
  readonly bytes: number;
  private readonly leafLength: number;

  constructor(
    private readonly form: InputForm,
    private readonly leaves: readonly Leaf[],
    readonly count: number,
    private readonly rowElements: number,
    place: string,
  ) {
    this.leafLength = leaves[0].length;
    this.bytes = count * rowElements * ELEMENT_BYTES[form.type];
    leaves.forEach((leaf, at) => this.check(leaf, at * this.leafLength, place));
  }

  row(index: number): Uint8Array {
    const { form, leaves, leafLength, rowElements } = this;
    const values = arrayOf(form.type, rowElements);
    let from = index * rowElements;
    for (let at = 0; at < rowElements;) {
      const leaf = leaves[Math.floor(from / leafLength)];
      const numbers = leaf instanceof LongNumbers ? leaf.numbers : (leaf as readonly number[]);
      const start = from % leafLength;
      const count = Math.min(leafLength - start, rowElements - at);
      for (let next = 0; next < count; next++) values[at + next] = numbers[start + next];
      at += count;
      from += count;
    }
    return new Uint8Array(values.buffer);
  }

  private check(leaf: Leaf, first: number, place: string): void {
    const { type, range } = this.form;
    const { fits, says } = RANGES[type];
    const refuse = (element: unknown, at: number) => {
      const code = typeof element === 'number' ? 'number_out_of_range' : 'wrong_type';
      const where = `${place}[${first + at}]`;
      return new ServiceError(code, `${where} must be ${says}, ${describeValue(element)} came`, where);
    };
    const elements: ArrayLike<unknown> = leaf instanceof LongNumbers ? leaf.numbers : leaf;
    for (let at = 0; at < elements.length; at++) {
      const element = elements[at];
      if (typeof element === 'number' && fits(element)) continue;
      // JSON has no NaN: null is a value that is missing, where the models take that.
      if (element !== null || range?.missing !== true || leaf instanceof LongNumbers)
        throw refuse(element, at);
      (leaf as unknown[])[at] = NaN;
    }
    if (leaf instanceof LongNumbers && leaf.odd !== undefined) throw refuse(leaf.odd.value, leaf.odd.index);
    const numbers = elements as ArrayLike<number>;
    const outside = firstOutsideForm(numbers, this.form);
    if (outside >= 0) throw outsideRange(numbers[outside], range, `${place}[${first + outside}]`);
  }
}

function arrayOf(
  type: InputType,
  length: number,
): Float64Array<ArrayBuffer> | Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer> {
  switch (type) {
    case 'doubles':
      return new Float64Array(length);
    case 'floats':
      return new Float32Array(length);
    case 'integers':
      return new Int32Array(length);
    case 'bytes':
    case 'strings':
      return new Uint8Array(length);
  }
}
