import { exponentialTable } from './exponentialTable.js';

/**
 * `ex2.approx.f32` to the bit, as an H200 computes it (S. F. Oberman, M. Y. Siu, A High-Performance Area-Efficient
 * Multifunction Interpolator, ARITH 2005): x becomes a fixed-point number of 23 fraction bits. The upper 6 of them choose
 * a segment, the lower 17 go through that segment's quadratic, whose square leaves out the partial products of the lowest
 * columns; the sum is cut to 24 bits. With the table it gives the card's results for all 2^32 operands, and
 * `ex2.approx.ftz.f32` is the same with operand and result flushed.
 */

/** Added before the sum is cut, in units of 2^-38: rounds most results to nearest. */
export const exponentialBias = 0x37e2;

/** A segment's coefficients in one 64-bit word, as compiled code reads them: c0 from bit 26, c1 from bit 10, c2 from bit 0. */
export const exponentialWords: BigInt64Array = BigInt64Array.from(
  exponentialTable,
  ([c0, c1, c2]) => (BigInt(c0) << 26n) | BigInt((c1 << 10) | c2),
);

/** The coefficients one behind the other, c0 in the unit of the sum. */
const coefficients = Float64Array.from(exponentialTable.flatMap(([c0, c1, c2]) => [c0 * 2 ** 13, c1, c2]));

/**
 * x² in units of 2^19 for an x of 17 bits, without the partial products of the columns below 19: of the upper 8 bits all
 * of the square but its lowest bit is left, of the upper bits times the lower 9 a triangle, of the lower bits nothing.
 */
export function truncatedSquare(x: number): number {
  const upper = x >> 9;
  let square = (upper * upper) >> 1;
  for (let bit = 2; bit <= 8; bit++) square += -((x >> bit) & 1) & (x >> (18 - bit));
  return square;
}

const scratch = new Int32Array(1);
const scratchFloat = new Float32Array(scratch.buffer);

/** For x in [−126, 128), where the result is normal. */
function interpolate(x: number): number {
  const magnitude = Math.abs(x) * 2 ** 23;
  let fixed = magnitude | 0;
  // The hardware negates by complement, one unit too far down unless x is whole.
  if (x < 0) fixed = (fixed & 0x7fffff) === 0 ? -fixed : ~fixed;
  const at = ((fixed & 0x7fffff) >> 17) * 3;
  const low = fixed & 0x1ffff;
  const sum =
    (coefficients[at] ?? 0) +
    (coefficients[at + 1] ?? 0) * low +
    (coefficients[at + 2] ?? 0) * truncatedSquare(low) +
    exponentialBias;
  // The leading one of the significand makes up for the one missing from the exponent's bias.
  scratch[0] = (((fixed >> 23) + 126) << 23) + Math.floor(sum / 2 ** 15);
  return scratchFloat[0] ?? 0;
}

/**
 * 2^x of an f32, as the assembler expands `ex2.approx.f32`: below −126, where the unit would give zero, x is halved and
 * the result squared, which rounds into the subnormals.
 */
export function exponential2(x: number): number {
  if (x >= -126 && x < 128) return interpolate(x);
  if (!(x < 128)) return x * Infinity;
  if (x < -252) return 0;
  const root = interpolate(x / 2);
  return Math.fround(root * root);
}
