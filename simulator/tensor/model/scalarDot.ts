import { encodeExact, nearest } from './numbers.js';
import type { DotOperands } from './fusedDot.js';
import type { ScalarModel } from './parameters.js';

/**
 * Bits of one element of a product that multiply-adds of f32 compute.
 * @param aAt index of the first factor of A; the others follow
 * @param bAt indices of the factors of B
 */
export function scalarDot(
  { a, b, c }: DotOperands,
  { blockLength, start }: ScalarModel,
  result: 'f16' | 'f32',
  aAt: number,
  bAt: Int32Array,
  cAt: number,
): number {
  let total = c.values[cAt] ?? 0;
  for (let first = 0; first < bAt.length; first += blockLength) {
    let sum = 0;
    for (let at = first; at < Math.min(first + blockLength, bAt.length); at++) {
      const product = (a.values[aAt + at] ?? 0) * (b.values[bAt[at] ?? 0] ?? 0);
      sum = at === first && start === 'product' ? Math.fround(product) : addProduct(product, sum);
    }
    total = Math.fround(total + sum);
  }
  if (Number.isNaN(total)) return result === 'f16' ? 0x7fff : 0x7fffffff;
  return encodeExact(result, nearest(total, result));
}

const double = new Float64Array(1);
const bits = new BigInt64Array(double.buffer);

/**
 * product + sum, rounded once to f32; the product is exact. A double's sum is rounded to odd first, so that the second rounding is as
 * the only one.
 */
function addProduct(product: number, sum: number): number {
  const total = product + sum;
  if (total === 0 || !Number.isFinite(total)) return Math.fround(total);
  const part = total - product;
  const lost = product - (total - part) + (sum - part);
  if (lost === 0) return Math.fround(total);
  double[0] = total;
  const found = bits[0] ?? 0n;
  if ((found & 1n) === 0n) bits[0] = found + (lost > 0 === total > 0 ? 1n : -1n);
  return Math.fround(double[0]);
}
