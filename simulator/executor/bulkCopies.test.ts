import { describe, expect, it } from 'vitest';
import { ReferenceInterpreter } from './interpreter/index.js';
import type { RunResult } from './index.js';
import { LaunchBench, storingKernel } from './tests/launchBench.js';
import { WAYS, type Way } from './tests/everyWay.js';

const VARIABLES = '.shared .align 8 .b64 bar;\n.shared .align 16 .b32 tile[256];';
const WAIT = 'WAIT:\nmbarrier.try_wait.parity.shared.b64 %p7, [bar], 0;\n@!%p7 bra WAIT;';
const COMPLETES = 'mbarrier::complete_tx::bytes';

interface Run {
  readonly result: RunResult;
  readonly out: number[];
}

/** One thread; `%rd0` is a buffer of 64 words, each its own number, that `out` has in the end. */
function run(way: Way, body: string): Run {
  const bench = new LaunchBench();
  const out = bench.buffer(64);
  new Int32Array(bench.space.view(out, 256).buffer, bench.space.view(out, 256).byteOffset, 64).set(
    Array.from({ length: 64 }, (_, at) => at),
  );
  const text = storingKernel(`mbarrier.init.shared.b64 [bar], 1;\n${body}`, VARIABLES);
  const launch = { values: [out, 0], block: [1, 1, 1] as const };
  const placed = bench.place(text, launch);
  const result =
    way === 'interpreter'
      ? new ReferenceInterpreter().run(placed.launch, placed.range, 'observed', 1e6)
      : bench.run(text, { ...launch, fuel: way === 'resumable' ? 40 : 1e6 }, way);
  return { result, out: bench.words(out, 64) };
}

function done(way: Way, body: string): number[] {
  const { result, out } = run(way, body);
  expect(result.status === 'fault' ? result.fault.message : result.status).toBe('done');
  return out;
}

function faultOf(way: Way, body: string): { readonly code: string; readonly line: string } {
  const { result } = run(way, body);
  if (result.status !== 'fault') throw new Error(result.status);
  const text = storingKernel(`mbarrier.init.shared.b64 [bar], 1;\n${body}`, VARIABLES).split('\n');
  return { code: result.fault.code, line: text[result.fault.ptxLine - 1] ?? '' };
}

describe.each(WAYS)('a bulk copy (%s)', (way) => {
  it('moves bytes and tells its mbarrier', () => {
    const out = done(
      way,
      `mbarrier.arrive.expect_tx.shared.b64 _, [bar], 96;
mov.u32 %r2, 64;
cp.async.bulk.shared::cluster.global.${COMPLETES} [tile+16], [%rd0+16], %r2, [bar];
setp.eq.u32 %p1, %r2, 64;
@!%p1 cp.async.bulk.shared::cta.global.${COMPLETES} [tile], [%rd0+64], 16, [bar];
cp.async.bulk.shared::cluster.shared::cta.${COMPLETES} [tile+80], [tile+16], 32, [bar];
${WAIT}
cp.async.bulk.prefetch.L2.global [%rd0], 64;
cp.async.bulk.global.shared::cta.bulk_group [%rd0+128], [tile+64], 48;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
ld.shared.u32 %r9, [tile+16];`,
    );
    expect(out.slice(32, 46)).toEqual([16, 17, 18, 19, 4, 5, 6, 7, 8, 9, 10, 11, 44, 45]);
    expect(out[0]).toBe(4);
  });

  it('combines what it brings with what is there', () => {
    const out = done(
      way,
      `mov.u32 %r2, -5;
st.shared.v4.u32 [tile], {%r2, 3, 100, 7};
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%rd0+16], [tile], 16;
cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%rd0+32], [tile], 16;
cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%rd0+48], [tile], 16;
cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b64 [%rd0+64], [tile], 16;
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%rd0+80], [tile], 16;
mov.b32 %r3, 0x3c003c00;
st.shared.v4.u32 [tile+16], {%r3, %r3, %r3, %r3};
st.global.v4.u32 [%rd0+128], {%r3, %r3, 0, %r3};
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd0+128], [tile+16], 16;
mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
cp.reduce.async.bulk.shared::cluster.shared::cta.${COMPLETES}.inc.u32 [tile+32], [tile], 16, [bar];
mov.u32 %r9, 0;`,
    );
    expect(out.slice(4, 8)).toEqual([-1, 8, 106, 14]);
    expect(out.slice(8, 12)).toEqual([-5, 9, 100, 11]);
    expect(out.slice(12, 16)).toEqual([-5, 3, 14, 7]);
    expect(out.slice(16, 20)).toEqual([-5 ^ 16, 3 ^ 17, 100 ^ 18, 7 ^ 19]);
    expect(out.slice(20, 24)).toEqual([15, 25, 122, 30]);
    expect(out.slice(32, 36)).toEqual([0x40004000, 0x40004000, 0x3c003c00, 0x40004000]);
  });

  it('of one word tells its mbarrier, too', () => {
    const out = done(
      way,
      `st.shared.u32 [tile+32], 40;
mbarrier.arrive.expect_tx.shared.b64 _, [bar], 28;
mov.u32 %r4, tile;
mov.u32 %r5, bar;
mov.u32 %r2, 7;
st.async.weak.shared::cluster.${COMPLETES}.v4.u32 [%r4], {%r2, 1, 2, 3}, [%r5];
st.async.shared::cluster.${COMPLETES}.b64 [%r4+16], 9, [%r5];
red.async.relaxed.cluster.shared::cluster.${COMPLETES}.add.u32 [%r4+32], %r2, [%r5];
${WAIT}
ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [tile];
st.global.v4.u32 [%rd0+16], {%r10, %r11, %r12, %r13};
ld.shared.u32 %r10, [tile+16];
st.global.u32 [%rd0+32], %r10;
ld.shared.u32 %r9, [tile+32];`,
    );
    expect(out.slice(4, 9)).toEqual([7, 1, 2, 3, 9]);
    expect(out[0]).toBe(47);
  });

  it.each([
    ['its length', `[tile], [%rd0], 24, [bar]`, 'misalignedAddress'],
    ['its source', `[tile], [%rd0+8], 32, [bar]`, 'misalignedAddress'],
    ['its target', `[tile+4], [%rd0], 32, [bar]`, 'misalignedAddress'],
    ['its mbarrier', `[tile], [%rd0], 32, [bar+4]`, 'misalignedAddress'],
    ['a range that ends outside of its buffer', `[tile], [%rd0], 1048560, [bar]`, 'illegalAddress'],
    ['a range that ends outside of the tile', `[tile+1008], [%rd0], 64, [bar]`, 'sharedOutOfBounds'],
  ])('faults where it stands for %s', (_, operands, code) => {
    const copy = `cp.async.bulk.shared::cluster.global.${COMPLETES} ${operands};`;
    expect(faultOf(way, copy)).toEqual({ code, line: copy });
  });

  it.each([
    ['its length', '[%rd0+16], [tile], 24'],
    ['its target', '[%rd0+8], [tile], 32'],
  ])('that combines faults for %s', (_, operands) => {
    const copy = `cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 ${operands};`;
    expect(faultOf(way, copy)).toEqual({ code: 'misalignedAddress', line: copy });
  });
});
