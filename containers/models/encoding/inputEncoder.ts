import { describeScalar, isScalar } from './scalars.js';
import { encodedWidth, partWidth } from './encodingSchema.js';
import type { CategoryPart, EncodingPart, InputEncoding, Scalar } from './encodingSchema.js';
import { TermCounter } from './terms.js';

/** Known categories that an error lists. */
const SHOWN = 8;

/** Writes one column's part. @returns what is wrong with the value, or undefined */
type Writer = (value: Scalar, target: Float64Array) => Generator<void, string | undefined>;

/** Makes of a query's text the numbers that kernels take, as an encoding says. */
export class InputEncoder {
  private readonly writers: readonly {
    readonly column: number;
    readonly start: number;
    readonly end: number;
    readonly write: Writer;
  }[];
  private readonly width: number;

  /** @param columns names of the columns of a row; undefined: a query is one text */
  constructor(
    encoding: InputEncoding,
    private readonly columns: readonly string[] | undefined,
  ) {
    this.width = encodedWidth(encoding);
    let start = 0;
    this.writers = encoding.parts.map((part) => {
      const end = start + partWidth(part);
      const writer = { column: part.column, start, end, write: writerOf(part) };
      start = end;
      return writer;
    });
  }

  /**
   * Encodes one query, with a rest at every yield, so that a long text does not hold others up.
   * @param bytes UTF-8: a text, or the JSON list of a row's values
   * @returns the numbers, or what is wrong with the query
   */
  *encode(bytes: Uint8Array): Generator<void, Float64Array | string> {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    const values = this.columns === undefined ? [text] : rowOf(text, this.columns);
    if (typeof values === 'string') return values;
    const numbers = new Float64Array(this.width);
    for (const { column, start, end, write } of this.writers) {
      const problem = yield* write(values[column], numbers.subarray(start, end));
      if (problem === undefined) continue;
      return this.columns === undefined ? `the text ${problem}` : `${this.nameOf(column)} ${problem}`;
    }
    return numbers;
  }

  private nameOf(column: number): string {
    return `input[${column}] (column '${this.columns?.[column] ?? ''}')`;
  }
}

function rowOf(text: string, columns: readonly string[]): readonly Scalar[] | string {
  const expected = `a list of ${columns.length} values: ${columns.slice(0, 32).join(', ')}${columns.length > 32 ? ', …' : ''}`;
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    return `the input must be ${expected}`;
  }
  if (!Array.isArray(values) || values.length !== columns.length) {
    const came = Array.isArray(values) ? `a list of ${values.length}` : describeScalar(values);
    return `the input must be ${expected}; ${came} came`;
  }
  const odd = values.findIndex((value) => !isScalar(value));
  return odd < 0
    ? (values as Scalar[])
    : `input[${odd}] (column '${columns[odd]}') must be a string, a number, a boolean or null`;
}

function writerOf(part: EncodingPart): Writer {
  switch (part.kind) {
    case 'number':
      return numberWriter(part.missing === true);
    case 'category':
      return categoryWriter(part);
    case 'terms': {
      const counter = new TermCounter(part);
      return function* (value, target) {
        if (typeof value !== 'string') return `must be a string, ${describeScalar(value)} came`;
        return yield* counter.write(value, target);
      };
    }
  }
}

function numberWriter(takesMissing: boolean): Writer {
  return steady((value, target) => {
    if (value === null && takesMissing) target[0] = NaN;
    else if (typeof value === 'number' && Number.isFinite(value)) target[0] = value;
    else if (typeof value === 'boolean') target[0] = value ? 1 : 0;
    else return `must be a number${takesMissing ? ' or null' : ''}, ${describeScalar(value)} came`;
    return undefined;
  });
}

function categoryWriter({ categories, unknown, missing }: CategoryPart): Writer {
  const places = new Map(categories.map((category, place) => [category, place]));
  if (missing !== undefined) places.set(null, missing);
  return steady((value, target) => {
    const place = places.get(value);
    if (place === undefined && unknown === 'refuse') {
      const shown = categories.slice(0, SHOWN).map((category) => JSON.stringify(category));
      const more = categories.length > SHOWN ? `, … (${categories.length} in all)` : '';
      return `is ${describeScalar(value)}, which is no category that the model knows: ${shown.join(', ')}${more}`;
    }
    target[0] = place ?? -1;
    return undefined;
  });
}

/** Of what takes no time worth a rest. */
function steady(write: (value: Scalar, target: Float64Array) => string | undefined): Writer {
  return function* (value, target) {
    return write(value, target);
  };
}
