import { ELEMENT_BYTES, type InputType } from '../../../containers/protocol/index.js';
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
    private readonly type: InputType,
    length: number | undefined,
    seed: number,
  ) {
    this.length = length ?? FREE_LENGTH;
    this.draw = new KeyedDraw(seed);
    this.source = `${this.length} drawn ${type} each`;
  }

  input(_sample: number, query: number): Uint8Array {
    const next = this.draw.of(`input ${query}`);
    const { length, type } = this;
    switch (type) {
      case 'floats':
        return bytesOf(Float32Array.from({ length }, next));
      case 'doubles':
        return bytesOf(Float64Array.from({ length }, next));
      case 'integers':
        return bytesOf(Int32Array.from({ length }, () => Math.floor(next() * 256)));
      case 'bytes':
        return Uint8Array.from({ length: length * ELEMENT_BYTES.bytes }, () => Math.floor(next() * 256));
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
