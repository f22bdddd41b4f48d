import { KeyedDraw } from '../../../selection/index.js';
import { PIXELS, readHeldOutDigits, type HeldOutDigits } from './heldOutDigits.js';
import type { InputPool } from './inputPool.js';

/** Two corners, blank in every digit. */
const CORNERS = [0, PIXELS - 1] as const;
/** Whole numbers below are exact in a float32. */
const EXACT = 2 ** 24;
/** Far less than one grey level, of which there are 255. */
const GRAIN = 2 ** -34;

/**
 * Held-out digits with their labels. Real inputs seldom repeat to the last bit: unless a query is one of the share that
 * repeats, a corner of its digit carries the query's number, so that no cache has seen it and no model sees it.
 */
export class DigitSamples implements InputPool {
  readonly source: string;
  private readonly digits: HeldOutDigits;
  private readonly draw: KeyedDraw;

  /** @param repeats share of queries whose digit comes exactly as it is. */
  constructor(
    private readonly repeats: number,
    seed: number,
  ) {
    this.digits = readHeldOutDigits();
    this.draw = new KeyedDraw(seed);
    this.source = `${this.digits.count} held-out digits, ${repeats * 100} % of the queries repeat one exactly`;
  }

  get size(): number {
    return this.digits.count;
  }

  input(sample: number, query: number): Uint8Array {
    const pixels = this.digits.pixels(sample);
    if (this.draw.of(`repeat ${query}`)() >= this.repeats) {
      const number = query + 1;
      pixels[CORNERS[0]] = (number % EXACT) * GRAIN;
      pixels[CORNERS[1]] = Math.floor(number / EXACT) * GRAIN;
    }
    return new Uint8Array(pixels.buffer);
  }

  label(sample: number): string {
    return this.digits.label(sample);
  }
}
