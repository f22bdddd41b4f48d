import type { OracleRandom } from '../oracles/index.js';
import { evaluate, type Sizes } from './expression.js';
import { elementBytes, type ElementType, type Fill } from './manifest.js';

/**
 * What a buffer of `count` elements holds before a launch. Pointers are zero here (see placement).
 */
export function filled(
  type: ElementType,
  count: number,
  fill: Fill,
  sizes: Sizes,
  random: OracleRandom,
): Uint8Array {
  const bytes = new Uint8Array(count * elementBytes(type));
  if (fill === 'zeros' || type === 'pointer') return bytes;
  const view = new DataView(bytes.buffer);
  const element = elementOf(fill, count, type, sizes, random);
  for (let index = 0; index < count; index++) put(view, type, index, element(index));
  return bytes;
}

function elementOf(
  fill: Fill,
  count: number,
  type: ElementType,
  sizes: Sizes,
  random: OracleRandom,
): (index: number) => number {
  if (fill === 'permutation') {
    const order = random.order(count);
    return (index) => order[index] ?? 0;
  }
  if (fill === 'earlier') return (index) => random.below(index + 1);
  if (typeof fill === 'string') return () => randomValue(type, random);
  if ('flags' in fill) return () => (random.chance(fill.flags) ? 1 : 0);
  if ('starts' in fill) {
    const total = evaluate(fill.starts, sizes);
    const starts = Array.from({ length: count }, () => random.between(0, total)).sort((a, b) => a - b);
    return (index) => (index === 0 ? 0 : (starts[index] ?? 0));
  }
  if ('rowBefore' in fill) {
    const width = evaluate(fill.rowBefore, sizes);
    return (index) => (index < width ? -1 : (Math.floor(index / width) - 1) * width + random.below(width));
  }
  if ('below' in fill) {
    const least = evaluate(fill.least ?? 0, sizes);
    const below = Math.max(least + 1, evaluate(fill.below, sizes));
    return () => least + random.below(below - least);
  }
  return () => 0;
}

function randomValue(type: ElementType, random: OracleRandom): number {
  if (type === 'f32') return random.word() / 2 ** 31 - 1;
  // Bits of a number between 0.125 and 2, of either sign.
  if (type === 'f16') return 0x3000 + random.below(0x1000) + (random.chance(0.5) ? 0x8000 : 0);
  return type === 'i32' || type === 'i8' ? random.between(-8, 8) : random.between(0, 16);
}

function put(view: DataView, type: ElementType, index: number, value: number): void {
  const bytes = elementBytes(type);
  if (type === 'f32') view.setFloat32(index * bytes, value, true);
  else if (bytes === 4) view.setInt32(index * bytes, value, true);
  else if (bytes === 2) view.setUint16(index * bytes, value, true);
  else view.setUint8(index, value);
}
