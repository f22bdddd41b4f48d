import { partWidth, type EncodingPart } from '../../encoding/index.js';
import type { GraphValue } from './graphValues.js';
import { DOUBLE, INT64 } from './tensorValues.js';

/** What becomes of a query whose inputs have strings among them: numbers, part by part, on the host. */
export class EncodedParts {
  readonly parts: EncodingPart[] = [];
  /** Where each part begins. */
  readonly starts: number[] = [];
  private width = 0;

  /** @param batch whether a query is one of a batch */
  constructor(private readonly isBatched: boolean) {}

  /** The category of a column: its place among them, -1 where it is none. */
  category(column: number, categories: readonly string[], shape: readonly number[]): GraphValue {
    return this.value(
      this.add({ kind: 'category', column, categories: [...categories], unknown: 'code' }),
      shape,
      INT64,
    );
  }

  /** Columns that are numbers, one behind the other. @returns the first's place */
  numbers(first: number, count: number, takesMissing: boolean): number {
    const place = this.parts.length;
    for (let column = first; column < first + count; column++) {
      this.add({ kind: 'number', column, ...(takesMissing ? { missing: true as const } : {}) });
    }
    return place;
  }

  /** Numbers of all parts. */
  get total(): number {
    return this.width;
  }

  private add(part: EncodingPart): number {
    this.starts.push(this.width);
    this.width += partWidth(part);
    return this.parts.push(part) - 1;
  }

  private value(place: number, shape: readonly number[], dataType: number): GraphValue {
    return {
      source: { kind: 'part', place },
      output: 0,
      shape,
      batch: this.isBatched ? { axis: 0, before: 1 } : undefined,
      dataType,
      readOnce: false,
    };
  }
}

/** How parts are kept on the device. */
export const PART_TYPE = DOUBLE;
