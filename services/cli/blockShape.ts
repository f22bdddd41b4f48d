import { InvalidArgumentError } from 'commander';

/** Parser of an option that takes the threads of a block: 256, 16x16 or 8x8x4. */
export function blockShape(text: string): readonly [number, number, number] {
  const extents = /^\d{1,10}(x\d{1,10}){0,2}$/.test(text) ? text.split('x').map(Number) : [];
  const [x, y = 1, z = 1] = extents;
  if (x === undefined || extents.includes(0)) {
    throw new InvalidArgumentError('expected threads such as 256, 16x16 or 8x8x4, each 1 or more.');
  }
  return [x, y, z];
}
