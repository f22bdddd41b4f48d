import type { InputForm, InputRange } from '../../../containers/protocol/index.js';
import { KeyedDraw } from '../../../selection/index.js';
import type { InputPool } from './inputPool.js';

/** Elements of an input for models that take any number. */
const FREE_LENGTH = 8;

/** Inputs drawn at random, no two alike, for models whose answers do not matter: they take as long as any other. */
export class MadeInputs implements InputPool {
  readonly source: string;
  readonly size = 0;
  private readonly draw: KeyedDraw;
  private readonly length: number;

  constructor(
    private readonly form: InputForm,
    seed: number,
  ) {
    this.length = form.length ?? FREE_LENGTH;
    this.draw = new KeyedDraw(seed);
    this.source = `${this.length} drawn ${form.type} each`;
  }

  input(_sample: number, query: number): Uint8Array {
    const next = this.draw.of(`input ${query}`);
    const { length } = this;
    const { type, range } = this.form;
    const real = within(range, 1, next);
    const whole = within(range, 255, next);
    switch (type) {
      case 'floats':
        return bytesOf(Float32Array.from({ length }, real));
      case 'doubles':
        return bytesOf(Float64Array.from({ length }, real));
      case 'integers':
        return bytesOf(Int32Array.from({ length }, () => Math.round(whole())));
      case 'bytes':
        return Uint8Array.from({ length }, () => Math.round(whole()));
      case 'strings':
        // Printable ASCII, one byte each.
        return Uint8Array.from({ length }, () => 32 + Math.floor(next() * 95));
    }
  }

  label(): undefined {
    return undefined;
  }
}

function bytesOf({
  buffer,
}: Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer> | Int32Array<ArrayBuffer>): Uint8Array {
  return new Uint8Array(buffer);
}

/** Draws between the bounds; where one is missing, `spread` away from the other or from 0. */
function within(range: InputRange = {}, spread: number, next: () => number): () => number {
  const { minimum = Math.min(0, (range.maximum ?? spread) - spread) } = range;
  const { maximum = minimum + spread } = range;
  return () => minimum + (maximum - minimum) * next();
}
