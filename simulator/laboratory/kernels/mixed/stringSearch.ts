import { kernelFixture } from '../kernelFixture.js';
import { hash } from '../seededInputs.js';

const pattern = 'wind';
const length = 500;
const chunk = 50;

function makeText(): string {
  const letters = Array.from({ length }, (_, i) => 'windWIND aejmr.'[hash(i, 181) % 15]).join('');
  return ['wind', 'WIND', 'windwind', 'WiNd'].reduce((text, word, i) => {
    const at = 40 + 120 * i;
    return text.slice(0, at) + word + text.slice(at + word.length);
  }, letters);
}

export const stringSearch = kernelFixture({
  ptx: new URL('./stringSearch.ptx', import.meta.url),
  buffers: () => ({
    text: Int8Array.from(makeText(), (letter) => letter.charCodeAt(0)),
    places: new Int32Array(64),
    count: new Int32Array(1),
    skips: new Int32Array(10),
  }),
  launches: [
    {
      kernel: 'stringSearch',
      grid: 4,
      block: 128,
      args: [
        { buffer: 'text' },
        { i32: length },
        { i32: pattern.length },
        { buffer: 'places' },
        { buffer: 'count' },
      ],
    },
    {
      kernel: 'countSkips',
      grid: 1,
      block: 10,
      args: [
        { buffer: 'text' },
        { i32: length },
        { i32: pattern.length },
        { i32: chunk },
        { buffer: 'skips' },
      ],
    },
  ],
  reference: ({ places, count, skips }) => {
    const text = makeText().toLowerCase();
    const found: number[] = [];
    for (let at = text.indexOf(pattern); at >= 0; at = text.indexOf(pattern, at + 1)) found.push(at);
    places.set(found);
    count[0] = found.length;
    skips.forEach((_, c) => {
      const piece = text.slice(c * chunk, (c + 1) * chunk);
      for (let end = pattern.length; end <= piece.length; skips[c]++) {
        const last = pattern.slice(0, -1).lastIndexOf(piece[end - 1]);
        end += last < 0 ? pattern.length : pattern.length - 1 - last;
      }
    });
  },
  settle: ({ places, count }) => void places.subarray(0, count[0]).sort(),
  outputs: { places: 'exact', count: 'exact', skips: 'exact' },
});
