import { describe, expect, it } from 'vitest';
import { sampleBlocks } from './blockSample.js';
import { coverageText } from './coverageText.js';
import { METRICS } from './metrics.js';
import { profileKernel, type ProfiledKernel } from './tests/profiledKernel.js';

/** Each block loops as often as its number says, and adds to a word of its own; block 3 alone takes a path. */
const UNEVEN: ProfiledKernel = {
  grid: [40, 1, 1],
  block: [64, 1, 1],
  body: `setp.ne.u32 %p1, %r2, 3;
@%p1 bra REST;
add.u32 %r6, %r6, 77;
REST:
mov.u32 %r5, 0;
mul.wide.u32 %rd2, %r2, 4;
add.s64 %rd3, %rd1, %rd2;
L: red.global.add.u32 [%rd3], 1;
add.u32 %r5, %r5, 1;
setp.le.u32 %p2, %r5, %r2;
@%p2 bra L;`,
};

describe('coverage of a launch', () => {
  it('is whole within the budget: every count as the interpreter has it', () => {
    const run = profileKernel(UNEVEN);
    expect(run.coverage).toMatchObject({ kind: 'all', gridBlocks: 40, tracedBlocks: 40, ranBlocks: 40 });
    expect(run.totals.threadInstructions).toBe(run.coverage.tracedThreadInstructions);
    // The sum of 1 to 40 rounds, by 64 threads.
    expect(run.of('red.global')).toMatchObject({ atomicOperations: 820 * 64, atomicCollisions: 820 * 62 });
    expect(run.unseen.size).toBe(0);
  });

  it('of a sample has exact thread-instructions in every line, and scales the rest to them', () => {
    const all = profileKernel(UNEVEN);
    const sample = profileKernel(UNEVEN, { blocks: 8, seed: 5 });
    expect(sample.coverage).toMatchObject({ kind: 'sample', tracedBlocks: 8, ranBlocks: 40, seed: 5 });
    for (let index = 0; index < all.sink.table.instructions; index++) {
      expect(sample.sink.table.get(index, 'threadInstructions')).toBe(
        all.sink.table.get(index, 'threadInstructions'),
      );
    }
    expect(sample.of('red.global').atomicOperations).toBeCloseTo(820 * 64, 6);
    expect(sample.of('red.global').globalAtomicRequests).toBeCloseTo(820 * 2, 6);
    // Block 3 is in no sample of this seed; how often it ran is known all the same.
    expect(sampleBlocks(40, 8, 5)).not.toContain(3);
    expect(sample.of('add.u32 %r6, %r6, 77')).toMatchObject({ threadInstructions: 64, warpInstructions: 2 });
    expect(sample.unseen.size).toBe(1);
    // Memory is as after any run: nothing is done twice.
    expect(sample.memory).toEqual(all.memory);
  });

  it('draws the sample when the budget is smaller than the launch, and cuts blocks that are longer than it', () => {
    const drawn = profileKernel(UNEVEN, { budget: 30_000 });
    expect(drawn.coverage.kind).toBe('sample');
    expect(drawn.coverage.tracedBlocks).toBeLessThan(40);
    const cut = profileKernel({ ...UNEVEN, grid: [2000, 1, 1] }, { budget: 2_000 });
    expect(cut.coverage).toMatchObject({ kind: 'sample', tracedBlocks: 1, cutBlocks: 1 });
    expect(cut.of('red.global').threadInstructions).toBe(((2000 * 2001) / 2) * 64);
    expect(coverageText(cut.coverage)).toContain('only for the first instructions');
  });

  it('cuts the one block of a small grid as well, and an endless one', () => {
    const long = 'L: add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 20000;\n@%p1 bra L;';
    const run = profileKernel({ body: long }, { budget: 10_000 });
    expect(run.coverage).toMatchObject({ kind: 'sample', tracedBlocks: 1, cutBlocks: 1, ranBlocks: 1 });
    expect(run.coverage.tracedThreadInstructions).toBeLessThan(25_000);
    expect(run.of('L: add').threadInstructions).toBe(20_000 * 32);
    const endless = profileKernel(
      { body: 'L: add.u32 %r5, %r5, 1;\nbra L;' },
      { budget: 10_000, fuelPerBlock: 1_000_000 },
    );
    expect(endless.fault?.code).toBe('fuelExhausted');
    expect(endless.coverage).toMatchObject({ kind: 'sample', endedBy: 'fault', cutBlocks: 1 });
  });

  it('is the same for the same seed', () => {
    const counts = (seed: number): readonly number[] => {
      const { totals } = profileKernel(UNEVEN, { blocks: 4, seed });
      return METRICS.map((name) => totals[name]);
    };
    expect(counts(7)).toEqual(counts(7));
    expect(sampleBlocks(1000, 10, 7)).not.toEqual(sampleBlocks(1000, 10, 8));
  });

  it('draws a block of every piece of the grid', () => {
    expect(sampleBlocks(5, 9, 1)).toEqual([0, 1, 2, 3, 4]);
    const drawn = sampleBlocks(2 ** 31 - 1, 100, 3);
    expect(new Set(drawn).size).toBe(100);
    expect(drawn).toEqual([...drawn].sort((a, b) => a - b));
    expect(drawn.at(-1)).toBeGreaterThan(0.98 * 2 ** 31);
  });

  it('can be the sample alone, without any other block', () => {
    const run = profileKernel(
      { ...UNEVEN, grid: [2 ** 31 - 1, 1, 1], body: 'add.u32 %r5, %r1, 1;' },
      { blocks: 3, onlySample: true },
    );
    expect(run.coverage).toMatchObject({ kind: 'sampleOnly', tracedBlocks: 3, ranBlocks: 3 });
    expect(run.of('add.u32 %r5').threadInstructions).toBeCloseTo((2 ** 31 - 1) * 64, 0);
  });
});

describe('what goes wrong', () => {
  const FAULTY: ProfiledKernel = {
    grid: [10, 1, 1],
    body: `setp.eq.u32 %p1, %r2, 6;
@%p1 trap;
add.u32 %r5, %r1, 1;`,
  };

  it('profiles up to a fault and tells it', () => {
    const run = profileKernel(FAULTY);
    expect(run.fault).toMatchObject({ code: 'trap', block: [6, 0, 0] });
    expect(run.coverage).toMatchObject({ kind: 'part', endedBy: 'fault', tracedBlocks: 7 });
    expect(run.of('add.u32 %r5').threadInstructions).toBe(6 * 32);
    expect(coverageText(run.coverage)).toContain('until the fault');
    const sampled = profileKernel(FAULTY, { blocks: 2, seed: 1 });
    expect(sampled.fault).toMatchObject({ code: 'trap', block: [6, 0, 0] });
    expect(sampled.coverage).toMatchObject({ kind: 'sample', endedBy: 'fault', ranBlocks: 6 });
  });

  it('stops at the fuel', () => {
    const run = profileKernel(
      { body: 'L: add.u32 %r5, %r5, 1;\nbra L;' },
      { fuelPerBlock: 5000, blocks: 'all' },
    );
    expect(run.fault?.code).toBe('fuelExhausted');
    expect(run.totals.threadInstructions).toBeLessThanOrEqual(5000);
  });

  it('follows blocks that wait for one another, all together, as far as the budget goes', () => {
    const meeting: ProfiledKernel = {
      grid: [4, 1, 1],
      body: `setp.ne.u32 %p1, %r1, 0;
@%p1 bra MET;
atom.global.add.u32 %r5, [%rd1], 1;
WAIT: ld.volatile.global.u32 %r6, [%rd1];
setp.lt.u32 %p2, %r6, 4;
@%p2 bra WAIT;
MET: bar.sync 0;`,
    };
    const run = profileKernel(meeting);
    expect(run.coverage).toMatchObject({ kind: 'all', tracedBlocks: 4 });
    expect(run.of('atom.global').atomicOperations).toBe(4);
    expect(run.sink.barriers).toBe(4);
    const short = profileKernel({ ...meeting, cooperative: true }, { budget: 500, threadInstructions: 1e9 });
    expect(short.coverage).toMatchObject({ kind: 'part', endedBy: 'budget' });
    expect(short.coverage.tracedThreadInstructions).toBeGreaterThanOrEqual(500);
    expect(coverageText(short.coverage)).toContain('blocks may wait for one another');
    const whole = profileKernel({ ...meeting, cooperative: true }, { blocks: 1 });
    expect(whole.coverage).toMatchObject({ kind: 'all', tracedBlocks: 4 });
    expect(run.totals.threadInstructions).toBe(run.coverage.tracedThreadInstructions);
  });

  it('keeps what is printed, whichever way blocks run', () => {
    const printing: ProfiledKernel = {
      grid: [6, 1, 1],
      block: [1, 1, 1],
      before: `.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};`,
      body: `mov.u64 %rd4, text;
cvta.global.u64 %rd5, %rd4;
{ .param .b64 f; .param .b64 v; .param .b32 r;
st.param.b64 [f], %rd5;
st.param.b64 [v], 0;
call.uni (r), vprintf, (f, v); }`,
    };
    expect(profileKernel(printing).printed).toBe('hi\n'.repeat(6));
    expect(profileKernel(printing, { blocks: 2 }).printed).toBe('hi\n'.repeat(6));
  });
});
