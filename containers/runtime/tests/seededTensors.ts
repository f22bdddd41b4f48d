import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

export const SEED = 20;
const generator = xoroshiro128plus(SEED);
const draw = (): number => Math.fround(2 * uniformFloat64(generator) - 1);
export const draws = (count: number): Float32Array => Float32Array.from({ length: count }, draw);
export const product = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);
export const tensor = (...dims: number[]): { dims: number[]; values: Float32Array } => ({
  dims,
  values: draws(product(dims)),
});
