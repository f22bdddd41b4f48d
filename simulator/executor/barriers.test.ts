import { describe, expect, it } from 'vitest';
import type { ExecutorVariant, KernelFault } from './index.js';
import { LaunchBench, storingKernel, type KernelLaunch } from './tests/launchBench.js';

const bench = new LaunchBench();
const variants: readonly ExecutorVariant[] = ['fast', 'observed', 'resumable'];

function results(variant: ExecutorVariant, body: string, threads: number, variables = '', n = 0): number[] {
  const out = bench.buffer(threads);
  const launch: KernelLaunch = { values: [out, n], block: [threads, 1, 1] };
  const run = bench.run(storingKernel(body, variables), launch, variant);
  expect(run.status === 'fault' ? run.fault.message : run.status).toBe('done');
  return bench.words(out, threads);
}

function faultOf(body: string, threads: number, n = 0, variables = ''): KernelFault & { source: string } {
  const text = storingKernel(body, variables);
  const result = bench.run(text, { values: [bench.buffer(threads), n], block: [threads, 1, 1] });
  if (result.status !== 'fault') throw new Error(result.status);
  return { ...result.fault, source: text.split('\n')[result.fault.ptxLine - 1] ?? '' };
}

const fill = (count: number, value: number): number[] => new Array<number>(count).fill(value);

describe.each(variants)('barriers (%s)', (variant) => {
  it('of some warps, by number and count: producers and consumers of a ring', () => {
    // Warp 1 makes 10 values, warp 0 adds them up; barrier 1 says full, barrier 2 says empty.
    const body = `
mov.u32 %r2, 0;
mov.u32 %r9, 0;
shl.b32 %r3, %r1, 2;
and.b32 %r3, %r3, 127;
mov.u32 %r4, ring;
add.u32 %r3, %r3, %r4;
setp.ge.u32 %p1, %r1, 32;
@%p1 bra PRODUCE;
CONSUME:
bar.arrive 2, 64;
bar.sync 1, 64;
ld.shared.u32 %r5, [%r3];
add.u32 %r9, %r9, %r5;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p2, %r2, 10;
@%p2 bra CONSUME;
bra DONE;
PRODUCE:
bar.sync 2, 64;
mad.lo.u32 %r5, %r2, 100, %r1;
st.shared.u32 [%r3], %r5;
bar.arrive 1, 64;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p2, %r2, 10;
@%p2 bra PRODUCE;
DONE:`;
    const found = results(variant, body, 64, '.shared .align 4 .u32 ring[32];');
    const sums = Array.from({ length: 32 }, (_, lane) => 100 * 45 + 10 * (32 + lane));
    expect(found).toEqual([...sums, ...fill(32, 0)]);
  });

  it('of pairs of warps that use one number one after the other', () => {
    // Whichever two come first go on together; all 4 warps pass.
    expect(results(variant, 'bar.sync 3, 64;\nmov.u32 %r9, 1;', 128)).toEqual(fill(128, 1));
  });

  it('whose number and count are in registers', () => {
    const body = `
shr.u32 %r2, %r1, 6;
add.u32 %r2, %r2, 4;
mov.u32 %r3, 64;
and.b32 %r4, %r1, 63;
setp.ne.u32 %p1, %r4, 0;
shl.b32 %r5, %r2, 2;
mov.u32 %r6, words;
add.u32 %r6, %r6, %r5;
@!%p1 st.shared.u32 [%r6], %r2;
barrier.sync %r2, %r3;
ld.shared.u32 %r9, [%r6];`;
    const found = results(variant, body, 128, '.shared .align 4 .u32 words[8];');
    expect(found).toEqual([...fill(64, 4), ...fill(64, 5)]);
  });

  it('that reduce predicates over the block or over some warps', () => {
    const body = `
setp.lt.u32 %p1, %r1, 40;
bar.red.popc.u32 %r2, 0, %p1;
bar.red.and.pred %p2, 0, %p1;
bar.red.or.pred %p3, 0, !%p1;
barrier.red.popc.u32 %r3, 5, 64, !%p1;
selp.u32 %r4, 1000, 0, %p2;
selp.u32 %r5, 2000, 0, %p3;
mad.lo.u32 %r9, %r3, 10000, %r2;
add.u32 %r9, %r9, %r4;
add.u32 %r9, %r9, %r5;`;
    expect(results(variant, body, 64)).toEqual(fill(64, 24 * 10000 + 2000 + 40));
  });

  it('to which the lanes of a warp come apart', () => {
    const body = `
and.b32 %r2, %r1, 1;
setp.eq.u32 %p1, %r2, 0;
@%p1 bra EVEN;
st.shared.u32 [word], 7;
barrier.sync 0;
mov.u32 %r9, 1;
bra DONE;
EVEN:
barrier.sync 0;
ld.shared.u32 %r9, [word];
DONE:`;
    const found = results(variant, body, 64, '.shared .align 4 .u32 word;');
    expect(found).toEqual(Array.from({ length: 64 }, (_, lane) => (lane % 2 === 0 ? 7 : 1)));
  });

  it('that threads left early do not hold up, counted or not', () => {
    const body = `
setp.ge.u32 %p1, %r1, 40;
@%p1 ret;
barrier.sync 0;
bar.sync 1, 64;
mov.u32 %r9, 3;`;
    expect(results(variant, body, 64)).toEqual([...fill(40, 3), ...fill(24, 0)]);
  });
});

describe('barriers that never open', () => {
  it('name the place, how many came and how many should', () => {
    const fault = faultOf('bar.sync 2, 96;', 64);
    expect(fault).toMatchObject({ code: 'deadlock', thread: [0, 0, 0] });
    expect(fault.source).toContain('bar.sync 2, 96');
    expect(fault.message).toContain('barrier 2 has 64 of 96 threads');
  });

  it('fault for a count that is no multiple of 32, and for a number above 15', () => {
    expect(faultOf('add.u32 %r2, %r0, 40;\nbar.sync 1, %r2;', 64)).toMatchObject({
      code: 'illegalInstruction',
    });
    expect(faultOf('add.u32 %r2, %r0, 16;\nbar.sync %r2, 64;', 64)).toMatchObject({
      code: 'illegalInstruction',
    });
    expect(faultOf('add.u32 %r2, %r0, 16;\nbar.sync %r2;', 64)).toMatchObject({ code: 'illegalInstruction' });
  });

  it('fault where a lane goes past, to a return that early exits share', () => {
    const body = (skipper: number): string => `
setp.ge.u32 %p1, %r1, %r0;
@%p1 bra END;
setp.eq.u32 %p2, %r1, ${skipper};
@%p2 bra SKIP;
bar.sync 0;
SKIP:
st.global.u32 [%rd0], %r1;
END:
ret;`;
    expect(faultOf(body(37), 64, 50)).toMatchObject({ code: 'divergentBarrier', thread: [32, 0, 0] });
    const early = storingKernel(body(64));
    expect(bench.run(early, { values: [bench.buffer(64), 50], block: [64, 1, 1] }).status).toBe('done');
  });

  it('fault where lanes of one warp are apart, naming both places', () => {
    const body = `
setp.lt.u32 %p1, %r1, 16;
@%p1 bra LOW;
bar.sync 1;
bra DONE;
LOW:
bar.sync 2;
DONE:`;
    const fault = faultOf(body, 32);
    expect(fault.code).toBe('divergentBarrier');
    expect(fault.source).toContain('bar.sync 2');
    const other =
      storingKernel(body)
        .split('\n')
        .findIndex((line) => line.includes('bar.sync 1')) + 1;
    expect(fault.message).toContain(`lane 16 at line ${other}`);
  });
});
