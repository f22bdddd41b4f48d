import { describe, expect, it } from 'vitest';
import type { ExecutorVariant } from './index.js';
import type { LaunchPlace } from './types.js';
import { LaunchBench, storingKernel, type KernelLaunch } from './tests/launchBench.js';

const bench = new LaunchBench();
const variants: readonly ExecutorVariant[] = ['fast', 'observed', 'resumable'];

function results(
  variant: ExecutorVariant,
  body: string,
  launch: KernelLaunch = {},
  target = 'sm_90',
): number[] {
  const count = (launch.grid?.[0] ?? 1) * (launch.block?.[0] ?? 32);
  const out = bench.buffer(count);
  const text = storingKernel(body).replace('sm_90', target);
  const run = bench.run(text, { values: [out, 0], ...launch }, variant);
  expect(run.status === 'fault' ? run.fault.message : run.status).toBe('done');
  return bench.words(out, count);
}

describe.each(variants)('special registers (%s)', (variant) => {
  const place: LaunchPlace = { startNs: 5e9, cyclesPerNs: 1.5, sm: 7, smCount: 132, gridId: 12 };

  it('tell where a block runs', () => {
    const body = 'mov.u32 %r2, %smid;\nmov.u32 %r3, %nsmid;\nmad.lo.u32 %r9, %r3, 1000, %r2;';
    expect(results(variant, body, { place })[0]).toBe(132_007);
    const each = { place: { ...place, sms: [3, 4] }, grid: [2, 1, 1], block: [1, 1, 1] } as const;
    expect(results(variant, body, each)).toEqual([132_003, 132_004]);
    expect(results(variant, 'mov.u64 %rd1, %gridid;\ncvt.u32.u64 %r9, %rd1;', { place })[0]).toBe(12);
    expect(results(variant, 'mov.u32 %r2, %smid;\nmov.u32 %r3, %nsmid;\nadd.u32 %r9, %r2, %r3;')[0]).toBe(1);
  });

  it('tell time from the launch on, never backwards and never twice the same', () => {
    const ns = results(
      variant,
      'mov.u64 %rd1, %globaltimer;\nsub.u64 %rd1, %rd1, 5000000000;\ncvt.u32.u64 %r9, %rd1;',
      {
        place,
      },
    );
    expect(ns.every((value, lane) => value >= (ns[lane - 1] ?? 0) && value < 10_000)).toBe(true);
    const body = `
mov.u64 %rd1, %clock64;
mov.u32 %r2, 0;
LOOP:
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 100;
@%p1 bra LOOP;
mov.u64 %rd2, %clock64;
sub.u64 %rd3, %rd2, %rd1;
cvt.u32.u64 %r9, %rd3;`;
    for (const cycles of results(variant, body, { place })) {
      expect(cycles).toBeGreaterThanOrEqual(297);
      expect(cycles).toBeLessThan(330);
    }
  });

  it('let a wait for a time end', () => {
    const body = `
mov.u64 %rd1, %globaltimer;
add.u64 %rd1, %rd1, 2000;
WAIT:
nanosleep.u32 100;
mov.u64 %rd2, %globaltimer;
setp.lt.u64 %p1, %rd2, %rd1;
@%p1 bra WAIT;
mov.u32 %r9, 1;`;
    expect(results(variant, body, { place, fuel: 1e5 })).toEqual(new Array<number>(32).fill(1));
  });
});

describe.each(variants)('operations of whoever is there (%s)', (variant) => {
  it('old votes and shuffles without a mask', () => {
    const body = `
setp.lt.u32 %p1, %r1, 20;
@!%p1 bra DONE;
vote.ballot.b32 %r2, %p1;
shfl.up.b32 %r3, %r1, 1, 0;
add.u32 %r9, %r2, %r3;
DONE:`;
    const found = results(variant, body, {}, 'sm_60');
    const expected = Array.from({ length: 32 }, (_, lane) =>
      lane < 20 ? 0xfffff + Math.max(0, lane - 1) : 0,
    );
    expect(found).toEqual(expected);
  });

  it('elect names the lowest lane of the mask', () => {
    const body = `
setp.ge.u32 %p1, %r1, 8;
@!%p1 bra DONE;
elect.sync %r2|%p2, 0xffffff00;
selp.u32 %r3, 100, 0, %p2;
add.u32 %r9, %r2, %r3;
DONE:`;
    const found = results(variant, body);
    expect(found).toEqual(Array.from({ length: 32 }, (_, lane) => (lane < 8 ? 0 : lane === 8 ? 108 : 8)));
  });
});

describe.each(variants)('indexed branches (%s)', (variant) => {
  const body = (most: number): string => `
and.b32 %r2, %r1, ${most};
TOP:
bra PICK;
A: add.u32 %r9, %r9, 1; bra DONE;
B: add.u32 %r9, %r9, 10; add.u32 %r2, %r2, 1; bra PICK;
C: add.u32 %r9, %r9, 100; bra DONE;
PICK:
table: .branchtargets A, B, C, A;
brx.idx %r2, table;
DONE:`;

  it('go by their table, back as well', () => {
    const found = results(variant, body(3));
    expect(found.slice(0, 4)).toEqual([1, 110, 100, 1]);
  });

  it('fault for an index outside', () => {
    const text = storingKernel(body(7));
    const result = bench.run(text, { values: [bench.buffer(32), 0] }, variant);
    if (result.status !== 'fault') throw new Error(result.status);
    expect(result.fault).toMatchObject({ code: 'illegalInstruction', thread: [4, 0, 0] });
  });
});

describe('copies from global to shared memory', () => {
  const body = `
mov.u32 %r2, tile;
mul.lo.u32 %r3, %r1, 16;
add.u32 %r2, %r2, %r3;
cvt.u64.u32 %rd1, %r3;
add.u64 %rd1, %rd0, %rd1;
cp.async.ca.shared.global [%r2], [%rd1], 16, %r0;
cp.async.commit_group;
cp.async.wait_group 0;
bar.sync 0;
ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2];
add.u32 %r9, %r4, %r7;`;

  it.each([16, 13, 4, 0, 99])('of %i bytes fill the rest with zeros', (bytes) => {
    const out = bench.buffer(8);
    const view = bench.space.view(out, 32);
    view.forEach((_, index) => (view[index] = index + 1));
    const words = new Int32Array(
      Uint8Array.from(view, (byte, index) => (index % 16 < bytes ? byte : 0)).buffer,
    );
    const text = storingKernel(body, '.shared .align 16 .b8 tile[32];');
    const run = bench.run(text, { values: [out, bytes], block: [2, 1, 1] }, 'observed');
    expect(run.status).toBe('done');
    expect(bench.words(out, 2)).toEqual([0, 4].map((at) => ((words[at] ?? 0) + (words[at + 3] ?? 0)) | 0));
    expect(run.counters).toMatchObject({ globalLoadBytes: 2 * Math.min(16, bytes), sharedBytes: 2 * 32 });
  });

  it('of a part end where nothing is mapped', () => {
    const out = bench.buffer(7);
    const text = storingKernel(body, '.shared .align 16 .b8 tile[32];');
    expect(bench.run(text, { values: [out, 12], block: [2, 1, 1] }).status).toBe('done');
    expect(bench.run(text, { values: [out, 13], block: [2, 1, 1] }).status).toBe('fault');
  });
});
