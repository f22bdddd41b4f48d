import { describe, expect, it } from 'vitest';
import { CARD_PAGE_BYTES, ReferenceInterpreter, type ExecutorVariant, type Guard } from './index.js';
import { LaunchBench, storingKernel } from './tests/launchBench.js';

const THREADS = 96;
/** Sums words i, i + 64, i + 128 and i + 192 from a distance behind `out`. */
const READS = `mul.wide.u32 %rd1, %r1, 4;
add.s64 %rd1, %rd1, %rd0;
cvt.u64.u32 %rd2, %r0;
add.s64 %rd1, %rd1, %rd2;
mov.u32 %r9, 0;
mov.u32 %r2, 0;
LOOP:
ld.global.u32 %r3, [%rd1];
add.u32 %r9, %r9, %r3;
add.s64 %rd1, %rd1, 256;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 4;
@%p1 bra LOOP;
`;
const WRITES = READS.replace('ld.global.u32 %r3, [%rd1];', 'mov.u32 %r3, 5;\nst.global.u32 [%rd1], %r3;');
const ATOMICS = READS.replace('ld.global.u32 %r3, [%rd1]', 'atom.global.add.u32 %r3, [%rd1], 0');

const ways: [string, ExecutorVariant, boolean][] = [
  ['fast', 'fast', true],
  ['fast, lane by lane', 'fast', false],
  ['observed', 'observed', true],
  ['resumable', 'resumable', true],
];

function bench(guard: Guard, alwaysTogether = true): { bench: LaunchBench; out: number; words: Uint32Array } {
  const made = new LaunchBench({ alwaysTogether }, guard);
  const out = made.buffer(THREADS);
  const behind = made.buffer(1000);
  made.buffer(1000);
  const inside = made.space.view(behind, guard === 'card' ? CARD_PAGE_BYTES : 4000);
  const words = new Uint32Array(inside.buffer, inside.byteOffset, inside.length / 4);
  words.forEach((_, index) => (words[index] = index));
  return { bench: made, out, words };
}

describe('accesses just outside a segment', () => {
  const launch = (out: number, distance: number) => ({
    values: [out, distance],
    block: [THREADS, 1, 1] as const,
  });

  it.each(ways)('fault where nothing lies around it: %s', (_, variant, together) => {
    for (const body of [READS, WRITES, ATOMICS]) {
      const { bench: made, out } = bench('exact', together);
      const result = made.run(storingKernel(body), launch(out, 384), variant);
      expect(result).toMatchObject({
        status: 'fault',
        fault: { code: 'illegalAddress', address: out + 384 },
      });
    }
  });

  // From the end of the second segment's pages into those of the third: some lanes lie in one and some in the other.
  it.each(ways)('go through where memory is mapped in pages: %s', (_, variant, together) => {
    const { bench: made, out, words } = bench('card', together);
    const first = 2 * CARD_PAGE_BYTES - 436;
    expect(made.run(storingKernel(READS), launch(out, first), variant).status).toBe('done');
    const wordAt = (byte: number): number => words[(byte - CARD_PAGE_BYTES) / 4] ?? 0;
    const sums = Array.from({ length: THREADS }, (_, lane) =>
      [0, 1, 2, 3].reduce((sum, turn) => sum + wordAt(first + lane * 4 + turn * 256), 0),
    );
    expect(made.words(out, THREADS)).toEqual(sums);
    expect(made.run(storingKernel(ATOMICS), launch(out, first), variant).status).toBe('done');
    expect(made.words(out, THREADS)).toEqual(sums);
    expect(made.run(storingKernel(WRITES), launch(out, first), variant).status).toBe('done');
    expect([...words.subarray(-109)]).toEqual(Array.from({ length: 109 }, () => 5));
    expect(made.words(out + 2 * CARD_PAGE_BYTES, 179)).toEqual(Array.from({ length: 179 }, () => 5));
    expect(made.words(out + 2 * CARD_PAGE_BYTES + 179 * 4, 1)).toEqual([0]);
  });

  it('go through in the interpreter too', () => {
    const { bench: made, out, words } = bench('card');
    const { launch: placed, range } = made.place(
      storingKernel(READS),
      launch(out, 2 * CARD_PAGE_BYTES - 436),
    );
    expect(new ReferenceInterpreter().run(placed, range, 'fast', 1e7).status).toBe('done');
    expect(made.words(out, 1)).toEqual([[-109, -45].reduce((sum, word) => sum + (words.at(word) ?? 0), 0)]);
  });

  it('fault beyond the pages, and where a buffer was freed', () => {
    const { bench: made, out } = bench('card');
    const beyond = made.run(storingKernel(READS), launch(out, 3 * CARD_PAGE_BYTES));
    expect(beyond).toMatchObject({ status: 'fault', fault: { address: out + 3 * CARD_PAGE_BYTES } });
    made.space.unmap(out + CARD_PAGE_BYTES);
    const freed = made.run(storingKernel(READS), launch(out, CARD_PAGE_BYTES));
    expect(freed).toMatchObject({ status: 'fault', fault: { address: out + CARD_PAGE_BYTES } });
  });

  it('are kept by snapshots', () => {
    const { bench: made, out } = bench('card');
    const fork = made.memory.fork();
    expect(fork.hash()).toBe(made.memory.hash());
    made.space.view(out + 400, 1)[0] = 1;
    expect(fork.hash()).not.toBe(made.memory.hash());
    expect(fork.spaces()[0]?.map(1, 'read')).toMatchObject({ bytes: CARD_PAGE_BYTES, askedBytes: 1 });
  });
});
