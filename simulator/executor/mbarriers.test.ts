import { describe, expect, it } from 'vitest';
import { parseModule } from '../ptx/index.js';
import { ReferenceInterpreter } from './interpreter/index.js';
import type { RunResult } from './index.js';
import { LaunchBench, storingKernel, type KernelLaunch } from './tests/launchBench.js';
import { WAYS, type Way } from './tests/everyWay.js';

const VARIABLES = '.shared .align 8 .b64 bar[4];\n.shared .align 16 .b32 ring[256];';

function run(bench: LaunchBench, way: Way, text: string, launch: KernelLaunch): RunResult {
  if (way !== 'interpreter')
    return bench.run(text, { fuel: way === 'resumable' ? 500 : 1e6, ...launch }, way);
  const placed = bench.place(text, launch);
  return new ReferenceInterpreter().run(placed.launch, placed.range, 'observed', launch.fuel ?? 1e6);
}

/** What each thread of a block stored. */
function results(way: Way, body: string, threads: number): number[] {
  const bench = new LaunchBench();
  const out = bench.buffer(Math.max(64, threads));
  const result = run(bench, way, storingKernel(body, VARIABLES), {
    values: [out, 0],
    block: [threads, 1, 1],
  });
  expect(result.status === 'fault' ? result.fault.message : result.status).toBe('done');
  return bench.words(out, threads);
}

/** One thread does all; %r9 gathers answers, a bit or a number at a time. */
const alone = (body: string): string => `mov.u32 %r9, 0;\n${body}`;
const note = (factor: number, value: string): string => `mad.lo.u32 %r9, %r9, ${factor}, ${value};`;
const noteWait = (wait: string): string => `${wait}\nselp.u32 %r8, 1, 0, %p1;\n${note(10, '%r8')}`;

describe.each(WAYS)('an mbarrier (%s)', (way) => {
  it('counts arrivals, and tells its states apart', () => {
    const body = alone(`
mbarrier.init.shared.b64 [bar], 3;
mbarrier.arrive.shared.b64 %rd1, [bar];
mbarrier.pending_count.b64 %r2, %rd1;
${note(10, '%r2')}
mbarrier.arrive.noComplete.shared.b64 %rd2, [bar], 1;
mbarrier.pending_count.b64 %r2, %rd2;
${note(10, '%r2')}
${noteWait('mbarrier.test_wait.shared.b64 %p1, [bar], %rd1;')}
${noteWait('mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;')}
${noteWait('mbarrier.try_wait.parity.shared.b64 %p1, [bar], 1, 1000;')}
mbarrier.arrive.shared.b64 %rd3, [bar];
${noteWait('mbarrier.test_wait.shared.b64 %p1, [bar], %rd1;')}
${noteWait('mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;')}
${noteWait('mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1;')}
mbarrier.arrive.shared.b64 %rd3, [bar], 1;
mbarrier.pending_count.b64 %r2, %rd3;
${note(10, '%r2')}`);
    expect(results(way, body, 1)).toEqual([320_011_103]);
  });

  it('waits for bytes, which may come before they are told of', () => {
    const body = alone(`
mov.u32 %r3, bar;
cvt.u64.u32 %rd1, %r3;
cvta.shared.u64 %rd1, %rd1;
mov.u32 %r4, 1;
mov.u32 %r5, 64;
mbarrier.init.b64 [%rd1+8], %r4;
mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar+8], 16;
${noteWait('mbarrier.test_wait.parity.shared.b64 %p1, [bar+8], 0;')}
mbarrier.arrive.expect_tx.shared.b64 _, [bar+8], %r5;
${noteWait('mbarrier.test_wait.parity.shared.b64 %p1, [bar+8], 0;')}
mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar+8], 32;
${noteWait('mbarrier.test_wait.parity.shared.b64 %p1, [bar+8], 0;')}
mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar+8], 16;
${noteWait('mbarrier.test_wait.parity.shared.b64 %p1, [bar+8], 0;')}
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar+8], 16;
mbarrier.arrive.b64 %rd2, [%rd1+8];
mov.u32 %r6, 1;
${noteWait('mbarrier.test_wait.parity.b64 %p1, [%rd1+8], %r6;')}
mov.u32 %r6, 16;
mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar+8], %r6;
mov.u32 %r6, 1;
${noteWait('mbarrier.test_wait.parity.b64 %p1, [%rd1+8], %r6;')}`);
    expect(results(way, body, 1)).toEqual([101]);
  });

  it('expects those that dropped no more', () => {
    const body = alone(`
mbarrier.init.shared.b64 [bar], 3;
mov.u32 %r4, 1;
mbarrier.arrive_drop.shared.b64 %rd1, [bar], %r4;
mbarrier.arrive_drop.shared.b64 %rd1, [bar];
mbarrier.arrive.shared.b64 %rd1, [bar];
${noteWait('mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;')}
mbarrier.arrive.shared.b64 %rd1, [bar];
mbarrier.pending_count.b64 %r2, %rd1;
${note(10, '%r2')}
${noteWait('mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1;')}
mbarrier.inval.shared.b64 [bar];`);
    expect(results(way, body, 1)).toEqual([111]);
  });

  it('has the bits that the machine writes', () => {
    const body = `
mov.u32 %r4, 5;
mbarrier.init.shared.b64 [bar], %r4;
mbarrier.init.shared.b64 [bar+8], 5;
ld.shared.b64 %rd1, [bar];
ld.shared.b64 %rd2, [bar+8];
mov.u64 %rd3, 0x7FFFD800001FFFF6;
setp.eq.s64 %p1, %rd1, %rd3;
setp.eq.and.s64 %p1, %rd2, %rd3, %p1;
selp.u32 %r9, 1, 0, %p1;`;
    expect(results(way, body, 1)).toEqual([1]);
  });

  it('is told by copies of cp.async', () => {
    const body = alone(`
mbarrier.init.shared.b64 [bar], 2;
cp.async.ca.shared.global [ring], [%rd0], 16;
cp.async.mbarrier.arrive.shared.b64 [bar];
mbarrier.arrive.shared.b64 %rd1, [bar];
${noteWait('mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;')}
cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
${noteWait('mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;')}`);
    expect(results(way, body, 1)).toEqual([1]);
  });

  it('leads producers and consumers through a ring', () => {
    // Warp 0 fills two places in turn; warps 1 and 2 take what is in them, and give them back.
    const body = `
mov.u32 %r9, 0;
setp.ne.u32 %p2, %r1, 0;
@%p2 bra READY;
mbarrier.init.shared.b64 [bar], 32;
mbarrier.init.shared.b64 [bar+8], 32;
mbarrier.init.shared.b64 [bar+16], 64;
mbarrier.init.shared.b64 [bar+24], 64;
fence.mbarrier_init.release.cluster;
READY:
bar.sync 0;
mov.u32 %r2, 0;
and.b32 %r3, %r1, 31;
ROUND:
and.b32 %r4, %r2, 1;
shr.u32 %r5, %r2, 1;
and.b32 %r5, %r5, 1;
shl.b32 %r6, %r4, 3;
mov.u32 %r7, bar;
add.u32 %r6, %r7, %r6;
shl.b32 %r8, %r4, 5;
add.u32 %r8, %r8, %r3;
shl.b32 %r8, %r8, 2;
mov.u32 %r7, ring;
add.u32 %r8, %r8, %r7;
setp.lt.u32 %p3, %r1, 32;
@%p3 bra PRODUCE;
FULL:
mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r6], %r5;
@!%p1 bra FULL;
ld.shared.u32 %r10, [%r8];
mad.lo.u32 %r9, %r9, 3, %r10;
mbarrier.arrive.release.cta.shared::cta.b64 _, [%r6+16];
bra NEXT;
PRODUCE:
xor.b32 %r11, %r5, 1;
EMPTY:
mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r6+16], %r11;
@%p1 bra FREE;
bra EMPTY;
FREE:
mad.lo.u32 %r10, %r2, 100, %r3;
st.shared.u32 [%r8], %r10;
mbarrier.arrive.shared.b64 %rd1, [%r6];
NEXT:
add.u32 %r2, %r2, 1;
setp.lt.u32 %p2, %r2, 9;
@%p2 bra ROUND;`;
    const taken = (lane: number): number => {
      let sum = 0;
      for (let round = 0; round < 9; round++) sum = (sum * 3 + round * 100 + lane) | 0;
      return sum;
    };
    expect(results(way, body, 96)).toEqual(
      Array.from({ length: 96 }, (_, thread) => (thread < 32 ? 0 : taken(thread % 32))),
    );
  });

  it('names a place of it that is misaligned', () => {
    const bench = new LaunchBench();
    const text = storingKernel('mbarrier.init.shared.b64 [bar+4], 3;', VARIABLES);
    const result = run(bench, way, text, { values: [bench.buffer(32), 0], block: [1, 1, 1] });
    expect(result.status === 'fault' ? result.fault.code : result.status).toBe('misalignedAddress');
  });
});

describe('an mbarrier that is never complete', () => {
  it.each(['fast', 'observed'] as const)('is a deadlock where threads wait (%s)', (variant) => {
    const bench = new LaunchBench();
    const text = storingKernel(
      `
setp.ne.u32 %p2, %r1, 0;
@%p2 bra READY;
mbarrier.init.shared.b64 [bar], 65;
READY:
bar.sync 0;
mbarrier.arrive.shared.b64 %rd1, [bar];
WAIT:
mbarrier.try_wait.shared.b64 %p1, [bar], %rd1;
@!%p1 bra WAIT;`,
      VARIABLES,
    );
    const result = bench.run(text, { values: [bench.buffer(64), 0], block: [64, 1, 1] }, variant);
    if (result.status !== 'fault') throw new Error(result.status);
    expect(result.fault).toMatchObject({ code: 'deadlock', block: [0, 0, 0], thread: [0, 0, 0] });
    expect(text.split('\n')[result.fault.ptxLine - 1]).toContain('mbarrier.try_wait');
  });
});

describe('what an mbarrier cannot be told', () => {
  it.each([
    ['mbarrier.init.shared.b64 [bar], 0;', 'count 0: an mbarrier counts 1 to 1048575 arrivals'],
    ['mbarrier.arrive.shared.b64 %rd1, [bar], 1048576;', 'count 1048576: an mbarrier counts'],
    ['mbarrier.arrive.expect_tx.shared.b64 %rd1, [bar], 1048576;', 'a phase waits for at most 1048575'],
    ['mbarrier.arrive.shared.b64 %rd1, [bar], 1, 2;', '3 source operands, 1 to 2 expected'],
    ['mbarrier.init.shared.b64 [bar];', '1 source operands, 2 expected'],
    ['mbarrier.init.shared.b32 [bar], 1;', ''],
  ])('%s', (instruction, reason) => {
    const { refusal } = parseModule(storingKernel(instruction, VARIABLES), 'k.ptx').functions[0] ?? {};
    expect(refusal?.reason).toContain(reason);
    expect(refusal?.instruction).toContain('mbarrier');
  });
});
