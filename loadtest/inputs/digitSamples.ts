import { digitAt, heldOutDigits } from '../../containers/models/index.js';
import { KeyedDraw } from '../../selection/index.js';
import type { InputPool } from './inputPool.js';

const CLASSES = 10;
/** Held-out digits of each class. */
const EACH = 50;
/** Whole numbers below are exact in a float32. */
const EXACT = 2 ** 24;
/** Far less than one grey level, of which there are 255. */
const GRAIN = 2 ** -34;

/**
 * Held-out digits with their labels, classes in turn. Real inputs seldom repeat to the last bit: unless a query is one of the share that
 * repeats, two corners (blank in every digit) carry the query's number, so that no cache has seen it and no model sees it.
 */
export class DigitSamples implements InputPool {
  readonly source: string;
  private readonly digits: readonly Float32Array[];
  private readonly draw: KeyedDraw;

  /** @param repeats share of queries whose digit comes exactly as it is. */
  constructor(
    private readonly repeats: number,
    seed: number,
  ) {
    const heldOut = heldOutDigits();
    const first = Array.from({ length: CLASSES }, (_, label) => heldOut.labels.indexOf(label));
    this.digits = Array.from({ length: EACH * CLASSES }, (_, sample) =>
      digitAt(heldOut, first[sample % CLASSES] + Math.floor(sample / CLASSES)).slice(),
    );
    this.draw = new KeyedDraw(seed);
    this.source = `${this.digits.length} held-out digits, ${repeats * 100} % of the queries repeat one exactly`;
  }

  get size(): number {
    return this.digits.length;
  }

  input(sample: number, query: number): Uint8Array {
    const pixels = this.digits[sample].slice();
    if (this.draw.of(`repeat ${query}`)() >= this.repeats) {
      const number = query + 1;
      pixels[0] = (number % EXACT) * GRAIN;
      pixels[pixels.length - 1] = Math.floor(number / EXACT) * GRAIN;
    }
    return new Uint8Array(pixels.buffer);
  }

  label(sample: number): string {
    return String(sample % CLASSES);
  }
}
