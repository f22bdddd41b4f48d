import type { InputForm, InputRange } from '../../containers/protocol/index.js';
import { KeyedDraw } from '../../selection/index.js';
import type { InputPool } from './inputPool.js';

/** Elements of an input for models that take any number. */
const FREE_LENGTH = 8;

/** Inputs drawn at random, no two alike, for models whose answers do not matter: they take as long as any other. */
export class MadeInputs implements InputPool {
  readonly source: string;
  readonly size = 0;
  private readonly type: InputForm['type'];
  private readonly draw: KeyedDraw;
  private readonly real: Bounds;
  private readonly whole: Bounds;
  /** Of one input: what is handed out is a copy of its bytes, which small ones need no buffer of their own for. */
  private readonly elements: Elements;
  private readonly bytes: Uint8Array;

  constructor(form: InputForm, seed: number) {
    const { type, range, length = FREE_LENGTH } = form;
    this.type = type;
    this.draw = new KeyedDraw(seed);
    this.real = within(range, 1);
    this.whole = within(range, 255);
    this.elements = elementsOf(type, length);
    this.bytes = new Uint8Array(this.elements.buffer);
    this.source = `${length} drawn ${type} each`;
  }

  input(_sample: number, query: number): Uint8Array {
    const next = this.draw.of(`input ${query}`);
    const { elements } = this;
    for (let at = 0; at < elements.length; at++) elements[at] = this.element(next());
    return this.bytes.slice();
  }

  /** @param draw from 0 to 1 */
  private element(draw: number): number {
    switch (this.type) {
      case 'floats':
      case 'doubles':
        return between(this.real, draw);
      case 'integers':
      case 'bytes':
        return Math.round(between(this.whole, draw));
      case 'strings':
        // Printable ASCII, one byte each.
        return 32 + Math.floor(draw * 95);
    }
  }

  label(): undefined {
    return undefined;
  }
}

type Elements = Float32Array | Float64Array | Int32Array | Uint8Array;

function elementsOf(type: InputForm['type'], length: number): Elements {
  switch (type) {
    case 'floats':
      return new Float32Array(length);
    case 'doubles':
      return new Float64Array(length);
    case 'integers':
      return new Int32Array(length);
    case 'bytes':
    case 'strings':
      return new Uint8Array(length);
  }
}

interface Bounds {
  readonly minimum: number;
  readonly maximum: number;
}

/** Bounds of draws; where one is missing, `spread` away from the other or from 0. */
function within(range: InputRange = {}, spread: number): Bounds {
  const { minimum = Math.min(0, (range.maximum ?? spread) - spread) } = range;
  const { maximum = minimum + spread } = range;
  return { minimum, maximum };
}

function between({ minimum, maximum }: Bounds, draw: number): number {
  return minimum + (maximum - minimum) * draw;
}
