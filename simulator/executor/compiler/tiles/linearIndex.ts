import type { FunctionBuilder } from '../../../wasm/index.js';

/** What each bit of an index adds to another one: fragments lie so. */
export type LinearIndex = readonly number[];

/**
 * `values[i]` as the sum of what the bits of i add, from the lowest.
 * @throws RangeError where they do not lie so: the first must be 0, and there must be a power of two of them
 */
export function linearIndex(values: readonly number[]): LinearIndex {
  const bits: number[] = [];
  for (let bit = 1; bit < values.length; bit *= 2) bits.push(values[bit] ?? 0);
  values.forEach((value, index) => {
    if (value !== bits.reduce((sum, added, bit) => sum + ((index >> bit) & 1) * added, 0))
      throw new RangeError(`${value} at ${index} is no sum of what its bits add`);
  });
  return bits;
}

/** Pushes the index that the one in a local stands for. */
export function pushIndex(f: FunctionBuilder, local: number, bits: LinearIndex): void {
  let isFirst = true;
  for (let bit = 0; bit < bits.length;) {
    const added = bits[bit] ?? 0;
    let end = bit + 1;
    while (end < bits.length && bits[end] === added * 2 ** (end - bit)) end++;
    if (added !== 0) {
      f.get(local);
      if (bit > 0) f.i32(bit).op('i32ShrU');
      if (end < bits.length) f.i32(2 ** (end - bit) - 1).op('i32And');
      if (added !== 1) f.i32(added).op('i32Mul');
      if (!isFirst) f.op('i32Add');
      isFirst = false;
    }
    bit = end;
  }
  if (isFirst) f.i32(0);
}

/** Runs `body` with a counter from 0 to a constant. */
export function repeat(f: FunctionBuilder, counter: number, count: number, body: () => void): void {
  f.i32(0).set(counter);
  const again = f.loop();
  body();
  f.get(counter).i32(1).op('i32Add').tee(counter).i32(count).op('i32LtU').brIf(again);
  f.end();
}
