import { describe, expect, it } from 'vitest';
import { LaunchBench, storingKernel } from './tests/launchBench.js';

const benches = [
  new LaunchBench({ alwaysTogether: true }),
  new LaunchBench({ without: new Set(['vector']) }),
];
const THREADS = 64;
const INPUTS = 800;

/** What a body, of which each thread stores %r9, gives lanes together and lane after lane; behind the results lie inputs. */
function outcomes(body: string, count: number) {
  const text = storingKernel(body);
  return benches.map((bench) => {
    const out = bench.buffer(THREADS + INPUTS);
    const words = new Int32Array(THREADS + INPUTS).map((_, index) => (index < THREADS ? 0 : index * index));
    bench.space.view(out, words.byteLength).set(new Uint8Array(words.buffer));
    const run = bench.run(text, { values: [out, count], block: [THREADS, 1, 1] }, 'fast');
    return { run, words: bench.words(out, THREADS) };
  });
}

function results(body: string, count = 0): number[] {
  const [together, apart] = outcomes(body, count);
  expect(together).toEqual(apart);
  expect(together?.run.status).toBe('done');
  return together?.words ?? [];
}

const threads = Array.from({ length: THREADS }, (_, index) => index);

describe('conditions of where lanes stand', () => {
  const choose = (compare: string): string =>
    `mov.u32 %r4, %tid.x;\n${compare}\nmov.u32 %r9, 1;\n@%p1 bra DONE;\nmov.u32 %r9, 2;\nDONE:\nadd.u32 %r9, %r9, 0;`;

  it.each([0, 1, 15, 16, 31, 32, 63, 64, 100])('hold for lanes below %d', (limit) => {
    const below = threads.map((each) => (each < limit ? 1 : 2));
    expect(results(choose(`setp.lt.s32 %p1, %r4, ${limit};`))).toEqual(below);
    expect(results(choose(`setp.gt.u32 %p1, ${limit}, %r4;`))).toEqual(below);
    expect(results(choose(`neg.s32 %r5, %r4;\nsetp.gt.s32 %p1, %r5, -${limit};`))).toEqual(below);
  });

  it.each(['s32', 'u32'])('hold where %s values wrap between lanes', (type) => {
    for (const start of [0x7ffffff0, 0x7ffffffb, 0xfffffff0, 0xfffffffd]) {
      const cast = (value: number): number => (type === 's32' ? value | 0 : value >>> 0);
      expect(results(choose(`add.u32 %r5, %r4, ${start};\nsetp.lt.${type} %p1, %r5, 100;`))).toEqual(
        threads.map((each) => (cast(start + each) < 100 ? 1 : 2)),
      );
    }
  });

  it('hold for single lanes, and joined', () => {
    expect(results(choose('setp.eq.s32 %p1, %r4, 37;'))).toEqual(
      threads.map((each) => (each === 37 ? 1 : 2)),
    );
    expect(
      results(choose('setp.lt.s32 %p2, %r4, 3;\nsetp.ge.s32 %p3, %r4, 32;\nor.pred %p1, %p2, %p3;')),
    ).toEqual(threads.map((each) => (each < 3 || each >= 32 ? 1 : 2)));
  });
});

describe('loops over rows', () => {
  const row = (round: string): string => `
    and.b32 %r2, %r1, 31;
    mov.u32 %r9, 0;
    setp.ge.s32 %p1, %r2, %r0;
    @%p1 bra END;
    not.b32 %r3, %r2;
    add.s32 %r4, %r3, %r0;
    shr.u32 %r5, %r4, 5;
    add.s32 %r6, %r5, 1;
    and.b32 %r6, %r6, 3;
    mul.wide.s32 %rd1, %r2, 4;
    add.s64 %rd2, %rd0, %rd1;
    mov.u32 %r7, %r2;
    setp.eq.s32 %p2, %r6, 0;
    @%p2 bra MAIN;
    REST:
    ld.global.u32 %r8, [%rd2+256];
    add.u32 %r9, %r9, %r8;
    add.s64 %rd2, %rd2, 128;
    add.s32 %r7, %r7, 32;
    sub.s32 %r6, %r6, 1;
    setp.ne.s32 %p2, %r6, 0;
    @%p2 bra REST;
    MAIN:
    setp.lt.u32 %p3, %r4, 96;
    @%p3 bra END;
    LOOP:
    ${round}
    add.s64 %rd2, %rd2, 512;
    add.s32 %r7, %r7, 128;
    setp.lt.s32 %p4, %r7, %r0;
    @%p4 bra LOOP;
    END:
    add.u32 %r9, %r9, 0;`;
  const round = [256, 384, 512, 640]
    .map((offset) => `ld.global.u32 %r8, [%rd2+${offset}];\nadd.u32 %r9, %r9, %r8;`)
    .join('\n');

  it.each([0, 5, 32, 40, 96, 100, 128, 144, 160, 784])('add every 32nd of %d inputs', (count) => {
    const inputs = Array.from({ length: count }, (_, index) => (THREADS + index) ** 2);
    const sums = threads.map((each) =>
      inputs.filter((_, index) => index % 32 === each % 32).reduce((sum, input) => sum + input, 0),
    );
    expect(results(row(round), count)).toEqual(sums);
  });

  it.each([801, 832, 1000, 5000])('fault alike where %d inputs are asked for', (count) => {
    const [together, apart] = outcomes(row(round), count);
    const codes = [together, apart].map((each) =>
      each?.run.status === 'fault' ? each.run.fault.code : each?.run.status,
    );
    expect(codes).toEqual(['illegalAddress', 'illegalAddress']);
  });
});
