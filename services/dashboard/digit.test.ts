import { describe, expect, it } from 'vitest';
import {
  builtInModelPath,
  digitAt,
  loadDigits,
  loadKernelModel,
  plainEvaluation,
} from '../../containers/models/index.js';
import { DIGIT_SIDE, normaliseDigit } from './page/digit.js';

const SIDE = 280;

/** An empty drawing, and a way to fill rectangles of it. */
function drawing(...rectangles: readonly (readonly [x: number, y: number, width: number, height: number])[]) {
  const ink = new Float32Array(SIDE * SIDE);
  for (const [x, y, width, height] of rectangles) {
    for (let row = y; row < y + height; row++) ink.fill(1, row * SIDE + x, row * SIDE + x + width);
  }
  return ink;
}

function normalised(ink: Float32Array): Float32Array {
  const image = normaliseDigit(ink, SIDE, SIDE);
  if (image === undefined) throw new Error('nothing was drawn');
  return image;
}

/** Columns and rows with ink, and the centre of mass. */
function shape(image: Float32Array) {
  let mass = 0;
  let x = 0;
  let y = 0;
  const columns = new Set<number>();
  const rows = new Set<number>();
  image.forEach((value, at) => {
    if (value === 0) return;
    const column = at % DIGIT_SIDE;
    const row = Math.floor(at / DIGIT_SIDE);
    columns.add(column);
    rows.add(row);
    mass += value;
    x += value * (column + 0.5);
    y += value * (row + 0.5);
  });
  return { width: columns.size, height: rows.size, x: x / mass, y: y / mass, mass };
}

describe('normaliseDigit', () => {
  it('has no image of an empty drawing', () => {
    expect(normaliseDigit(drawing(), SIDE, SIDE)).toBeUndefined();
    expect(normaliseDigit(new Float32Array(SIDE * SIDE).fill(0.01), SIDE, SIDE)).toBeUndefined();
  });

  it.each([
    ['small in a corner', [3, 5, 10, 50]],
    ['large', [100, 10, 50, 250]],
    ['at the other corner', [268, 228, 10, 50]],
  ] as const)('scales a bar %s to 20 rows, upright in the middle', (_, rectangle) => {
    const { width, height, x, y, mass } = shape(normalised(drawing(rectangle)));
    expect(height).toBe(20);
    expect(width).toBeLessThanOrEqual(5);
    expect(Math.abs(x - 14.5)).toBeLessThanOrEqual(0.501);
    expect(Math.abs(y - 14.5)).toBeLessThanOrEqual(0.501);
    expect(mass).toBeCloseTo(20 * 4, 1);
  });

  it('centres the mass, not the box', () => {
    // An L: its heavy foot pulls the middle down and to the right.
    const ink = drawing([100, 50, 20, 200], [100, 235, 60, 15]);
    const { x, y } = shape(normalised(ink));
    expect(Math.abs(x - 14.5)).toBeLessThanOrEqual(0.501);
    expect(Math.abs(y - 14.5)).toBeLessThanOrEqual(0.501);
  });

  it('cuts nothing off for the sake of the centre', () => {
    // Almost all mass at one end of a long line.
    const ink = drawing([10, 100, 4, 4], [10, 102, 260, 1], [230, 80, 40, 40]);
    const full = shape(normalised(ink));
    const scale = 20 / 260;
    expect(full.mass).toBeCloseTo((16 + 260 - 4 - 40 + 1600) * scale * scale, 0);
    expect(full.width).toBeGreaterThanOrEqual(20);
  });

  it('leaves real digits what they are when they are drawn large and off centre', () => {
    const { heldOut } = loadDigits();
    const labelOf = plainEvaluation(loadKernelModel(builtInModelPath('digits-mlp')));
    let likeness = 0;
    let agreed = 0;
    const digits = Array.from({ length: 40 }, (_, k) => k * 49);
    for (const index of digits) {
      const original = Float32Array.from(digitAt(heldOut, index));
      const ink = new Float32Array(SIDE * SIDE);
      for (let y = 0; y < 196; y++) {
        for (let x = 0; x < 196; x++) {
          ink[(y + 70) * SIDE + x + 11] = original[Math.floor(y / 7) * DIGIT_SIDE + Math.floor(x / 7)];
        }
      }
      const image = normalised(ink);
      expect(Math.max(...image)).toBeLessThanOrEqual(1);
      likeness += correlation(original, image) / digits.length;
      if (labelOf(image).label === labelOf(original).label) agreed += 1;
    }
    expect(likeness).toBeGreaterThan(0.99);
    expect(agreed).toBe(digits.length);
  });
});

function correlation(a: Float32Array, b: Float32Array): number {
  const mean = (values: Float32Array): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  let both = 0;
  let ofA = 0;
  let ofB = 0;
  a.forEach((value, at) => {
    both += (value - meanA) * (b[at] - meanB);
    ofA += (value - meanA) ** 2;
    ofB += (b[at] - meanB) ** 2;
  });
  return both / Math.sqrt(ofA * ofB);
}
