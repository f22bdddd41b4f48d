import { kernelFixture } from '../kernelFixture.js';
import { words as randomWords } from '../seededInputs.js';

const [words, height, steps] = [3, 40, 4];
const width = 32 * words;

function step(now: Uint32Array): Uint32Array {
  const cell = (x: number, y: number): number => {
    const [px, py] = [(x + width) % width, (y + height) % height];
    return (now[py * words + (px >> 5)] >>> (px & 31)) & 1;
  };
  const next = new Uint32Array(now.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let neighbours = -cell(x, y);
      for (let dy = -1; dy <= 1; dy++) {
        for (let dx = -1; dx <= 1; dx++) neighbours += cell(x + dx, y + dy);
      }
      const lives = neighbours === 3 || (neighbours === 2 && cell(x, y) === 1);
      if (lives) next[y * words + (x >> 5)] |= 1 << (x & 31);
    }
  }
  return next;
}

export const gameOfLife = kernelFixture({
  ptx: new URL('./gameOfLife.ptx', import.meta.url),
  buffers: () => ({
    a: randomWords(words * height, 83).map((word, i) => word & (i % 2 === 0 ? 0xffff0fff : -1)),
    b: new Uint32Array(words * height),
    alive: new Uint32Array(1),
  }),
  launches: Array.from({ length: steps }, (_, index) => ({
    kernel: 'gameOfLife',
    grid: [1, height] as const,
    block: 32,
    args: [
      { buffer: index % 2 === 0 ? 'a' : 'b' } as const,
      { buffer: index % 2 === 0 ? 'b' : 'a' } as const,
      { buffer: 'alive' } as const,
      { i32: words },
      { i32: height },
    ],
  })),
  reference: ({ a, b, alive }) => {
    for (let index = 0; index < steps; index++) {
      const [from, to] = index % 2 === 0 ? [a, b] : [b, a];
      to.set(step(from));
      for (const word of to) alive[0] += word.toString(2).replaceAll('0', '').length;
    }
  },
  outputs: { a: 'exact', b: 'exact', alive: 'exact' },
});
