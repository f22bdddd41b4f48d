import { describe, expect, it } from 'vitest';
import type { CheckOptions } from './index.js';
import {
  check,
  kernelText,
  lineOf,
  only,
  titles,
  zeros,
  type BenchLaunch,
  type BenchResult,
} from './tests/checkBench.js';

const SHARED = '.shared .align 4 .b8 s[1024];';

function races(text: string, launch: BenchLaunch = {}, options: Partial<CheckOptions> = {}): BenchResult {
  return check(text, launch, { checkers: ['racecheck'], ...options });
}

/** Kinds and pairs of lines of a report, whichever of the two came first. */
function pairs({ report }: BenchResult): string[] {
  const found = report.findings.map(({ at, other }) =>
    [at.ptxLine, other?.ptxLine ?? 0].sort((a, b) => a - b).join('-'),
  );
  return [...new Set(found)].sort();
}

/** s[tid] = tid; <between>; %r6 = s[(tid + distance) % n]. */
function neighbour(between: string, distance = 1, mask = 63): string {
  return kernelText(
    `mov.u32 %r4, s;
add.s32 %r5, %r4, %r3;
st.shared.u32 [%r5], %r1;
${between}
add.s32 %r7, %r1, ${distance};
and.b32 %r7, %r7, ${mask};
shl.b32 %r7, %r7, 2;
add.s32 %r8, %r4, %r7;
ld.shared.u32 %r6, [%r8];`,
    SHARED,
  );
}

describe('copies that an mbarrier tells of', () => {
  const copied = (wait: string): string =>
    kernelText(
      `setp.ne.u32 %p1, %r1, 0;
@%p1 bra READY;
mbarrier.init.shared.b64 [bar], 1;
READY:
bar.sync 0;
@%p1 bra ISSUED;
mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 256, [bar];
ISSUED:
${wait}
shl.b32 %r4, %r1, 2;
mov.u32 %r5, s;
add.u32 %r5, %r5, %r4;
ld.shared.u32 %r6, [%r5];`,
      '.shared .align 16 .b8 s[1024];\n.shared .align 8 .b64 bar;',
    );

  const launch = { args: [zeros(256)] };

  it('a read before the wait', () => {
    const text = copied('');
    expect(pairs(races(text, launch))).toEqual([
      `${lineOf(text, 'cp.async.bulk')}-${lineOf(text, 'ld.shared.u32')}`,
    ]);
  });

  it('none after it', () => {
    const wait = 'WAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;';
    expect(titles(races(copied(wait), launch))).toEqual([]);
  });
});

describe('barriers of the block', () => {
  it('a read of what another thread wrote, without a barrier between', () => {
    const text = neighbour('', 32);
    const found = races(text);
    const [finding] = found.report.findings;
    expect(pairs(found)).toEqual([`${lineOf(text, 'st.shared')}-${lineOf(text, 'ld.shared')}`]);
    expect(finding).toMatchObject({ checker: 'racecheck', severity: 'error' });
    expect(found.report.totals.error).toBe(64);
    expect(titles(races(neighbour('bar.sync 0;', 32)))).toEqual([]);
  });

  it('names both threads, both accesses and the bytes', () => {
    const text = kernelText(
      `setp.eq.u32 %p1, %r1, 40;
@%p1 st.shared.u32 [s+8], %r1;
setp.eq.u32 %p2, %r1, 3;
@%p2 ld.shared.u16 %rs1, [s+10];`,
      SHARED,
    );
    for (const reversedWarps of [false, true]) {
      const finding = only(races(text, {}, { order: { reversedWarps } }));
      const sides = [
        [finding.at.ptxLine, finding.occurrences[0]?.thread, finding.occurrences[0]?.access],
        [
          finding.other?.ptxLine,
          finding.occurrences[0]?.other?.thread,
          finding.occurrences[0]?.other?.access,
        ],
      ];
      expect(sides).toContainEqual([
        lineOf(text, '@%p1 st'),
        [40, 0, 0],
        { space: 'shared', kind: 'store', address: 8, bytes: 4 },
      ]);
      expect(sides).toContainEqual([
        lineOf(text, '@%p2 ld'),
        [3, 0, 0],
        { space: 'shared', kind: 'load', address: 10, bytes: 2 },
      ]);
      expect(finding.occurrences[0]?.detail).toContain('shared offset 0xa to 0xb');
      expect(finding.kind).toBe(reversedWarps ? 'readAfterWrite' : 'writeAfterRead');
    }
  });

  it('bytes of one word that different threads write are no race, the same byte is', () => {
    const bytes = (shift: string): string =>
      kernelText(`mov.u32 %r4, s;\n${shift}\nadd.s32 %r5, %r4, %r6;\nst.shared.u8 [%r5], %r1;`, SHARED);
    expect(titles(races(bytes('mov.u32 %r6, %r1;')))).toEqual([]);
    expect(pairs(races(bytes('shr.u32 %r6, %r1, 1;')))).toHaveLength(1);
  });

  it('a loop that writes again before all have read: a barrier is missing at its end', () => {
    const loop = (end: string): string =>
      kernelText(
        `mov.u32 %r4, s;
add.s32 %r5, %r4, %r3;
xor.b32 %r7, %r3, 128;
add.s32 %r8, %r4, %r7;
mov.u32 %r9, 0;
LOOP:
st.shared.u32 [%r5], %r9;
bar.sync 0;
ld.shared.u32 %r6, [%r8];
${end}
add.s32 %r9, %r9, 1;
setp.lt.u32 %p1, %r9, 3;
@%p1 bra LOOP;`,
        SHARED,
      );
    const text = loop('');
    const found = races(text);
    expect(pairs(found)).toEqual([`${lineOf(text, 'st.shared')}-${lineOf(text, 'ld.shared')}`]);
    expect(found.report.findings.map(({ kind }) => kind)).toContain('writeAfterRead');
    expect(titles(races(loop('bar.sync 0;')))).toEqual([]);
  });

  it('is found whichever way the threads ran', () => {
    const text = neighbour('', 32);
    const orders = [{}, { reversedWarps: true }, { turn: 1 }, { turn: 3, reversedWarps: true }];
    const found = orders.map((order) => races(text, {}, { order }));
    for (const each of found) {
      expect(pairs(each)).toEqual(pairs(found[0] ?? each));
      expect(each.report.totals.error).toBe(64);
    }
  });
});

describe('lanes of one warp', () => {
  it('warns of lanes that count on going in step, unless they meet in between', () => {
    const text = neighbour('', 1, 31);
    const found = races(text, { block: [32, 1, 1] });
    expect(found.report.findings.map(({ severity }) => severity)).toEqual(['warning']);
    expect(found.report.totals).toEqual({ error: 0, warning: 32, info: 0 });
    for (const meeting of [
      'bar.warp.sync 0xffffffff;',
      'shfl.sync.bfly.b32 %r20, %r1, 1, 31, 0xffffffff;',
      'vote.sync.any.pred %p5, %p6, 0xffffffff;',
    ]) {
      expect(titles(races(neighbour(meeting, 1, 31), { block: [32, 1, 1] })), meeting).toEqual([]);
    }
  });

  it('a meeting of a warp orders no other warp', () => {
    expect(races(neighbour('bar.warp.sync 0xffffffff;', 32)).report.totals.error).toBe(64);
  });

  it('a meeting of some lanes orders those alone', () => {
    const halves = neighbour(
      `setp.lt.u32 %p1, %r1, 16;
@!%p1 bra UPPER;
bar.warp.sync 0x0000ffff;
bra.uni ON;
UPPER:
bar.warp.sync 0xffff0000;
ON:`,
      1,
      31,
    );
    const found = races(halves, { block: [32, 1, 1] });
    // Lane 15 reads what lane 16 wrote and lane 31 what lane 0 wrote; all others stay in their half.
    expect(found.report.totals).toEqual({ error: 0, warning: 2, info: 0 });
    expect(
      only(found)
        .occurrences.map(({ thread }) => thread[0])
        .sort(),
    ).toEqual([15, 31]);
  });

  it('two lanes that store different values in one step, and equal ones', () => {
    const one = (value: string): string => kernelText(`st.shared.u32 [s], ${value};`, SHARED);
    const different = races(one('%r1'), { block: [32, 1, 1] });
    expect(only(different)).toMatchObject({ kind: 'writeAfterWrite', severity: 'error' });
    // The lowest of three stays, and the one before it wrote the same.
    const third = kernelText(
      `setp.eq.u32 %p1, %r1, 1; selp.u32 %r7, 1, 0, %p1; st.shared.u32 [s], %r7;`,
      SHARED,
    );
    expect(only(races(third, { block: [3, 1, 1] }))).toMatchObject({ severity: 'error' });
    const same = races(one('%r2'), { block: [64, 1, 1] });
    expect(only(same)).toMatchObject({ kind: 'writeAfterWrite', severity: 'info' });
    expect(same.report.totals).toMatchObject({ error: 0, warning: 0 });
  });
});

describe('named barriers', () => {
  /** Warps 0 and 1 produce and consume through barrier 1, warps 2 and 3 apart from them through barrier 2. */
  const pairsOfWarps = (first: string, second: string): string =>
    kernelText(
      `mov.u32 %r4, s;
add.s32 %r5, %r4, %r3;
st.shared.u32 [%r5], %r1;
setp.lt.u32 %p1, %r1, 64;
@!%p1 bra SECOND;
${first}
bra.uni READ;
SECOND:
${second}
READ:
xor.b32 %r7, %r3, 128;
add.s32 %r8, %r4, %r7;
ld.shared.u32 %r6, [%r8];`,
      SHARED,
    );

  it('order the warps that they count', () => {
    const text = pairsOfWarps('bar.sync 1, 64;', 'bar.sync 2, 64;');
    expect(titles(races(text, { block: [128, 1, 1] }))).toEqual([]);
  });

  it('and no others', () => {
    const crossed = pairsOfWarps('bar.sync 1, 64;', 'bar.sync 2, 64;').replace(
      'xor.b32 %r7, %r3, 128;',
      'xor.b32 %r7, %r3, 256;',
    );
    expect(races(crossed, { block: [128, 1, 1] }).report.totals.error).toBe(128);
  });

  it('bar.arrive gives to those that wait and takes nothing', () => {
    const producer = (role: string): string =>
      kernelText(
        `mov.u32 %r4, s;
setp.lt.u32 %p1, %r1, 32;
@!%p1 bra CONSUMER;
add.s32 %r5, %r4, %r3;
st.shared.u32 [%r5], %r1;
bar.arrive 1, 64;
${role === 'late' ? 'st.shared.u32 [%r5], %r3;' : ''}
bra.uni END;
CONSUMER:
bar.sync 1, 64;
xor.b32 %r7, %r3, 128;
add.s32 %r8, %r4, %r7;
ld.shared.u32 %r6, [%r8];
END:`,
        SHARED,
      );
    expect(titles(races(producer('right')))).toEqual([]);
    expect(races(producer('late')).report.totals.error).toBe(32);
  });
});

describe('atomics and fences', () => {
  it('atomics do not race with one another, but with plain accesses', () => {
    const histogram = (rest: string): string =>
      kernelText(
        `and.b32 %r4, %r3, 28;\nmov.u32 %r5, s;\nadd.s32 %r5, %r5, %r4;\nred.shared.add.u32 [%r5], 1;\n${rest}`,
        SHARED,
      );
    expect(titles(races(histogram('')))).toEqual([]);
    const read = histogram('ld.shared.u32 %r6, [%r5];');
    expect(races(read).report.totals.error).toBeGreaterThan(0);
    expect(titles(races(histogram('bar.sync 0;\nld.shared.u32 %r6, [%r5];')))).toEqual([]);
    const clear = kernelText(
      'setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [s], 0;\natom.shared.add.u32 %r4, [s], 1;',
      SHARED,
    );
    const found = races(clear, { block: [96, 1, 1] });
    expect(pairs(found)).toEqual([`${lineOf(clear, '@%p1 st')}-${lineOf(clear, 'atom')}`]);
  });

  it('a lock with fences orders what it guards, without them it does not', () => {
    const locked = (fence: string): string =>
      kernelText(
        `TRY:
atom.shared.cas.b32 %r4, [s], 0, 1;
setp.ne.u32 %p1, %r4, 0;
@%p1 bra TRY;
${fence}
ld.shared.u32 %r5, [s+4];
add.s32 %r5, %r5, 1;
st.shared.u32 [s+4], %r5;
${fence}
atom.shared.exch.b32 %r6, [s], 0;`,
        SHARED,
      );
    // One thread a warp: lanes of one warp would wait for one another.
    const launch: BenchLaunch = { block: [1, 1, 1], grid: [1, 1, 1] };
    expect(titles(races(locked('fence.acq_rel.cta;'), launch))).toEqual([]);
    const byWarp = (fence: string): string =>
      locked(fence).replace('TRY:', 'and.b32 %r7, %r1, 31;\nsetp.ne.u32 %p2, %r7, 0;\n@%p2 ret;\nTRY:');
    const warps: BenchLaunch = { block: [128, 1, 1] };
    expect(titles(races(byWarp('fence.acq_rel.cta;'), warps))).toEqual([]);
    expect(titles(races(byWarp('membar.cta;'), warps))).toEqual([]);
    expect(races(byWarp(''), warps).report.totals.error).toBeGreaterThan(0);
  });
});

describe('global memory, when asked for', () => {
  const everyone = kernelText('st.global.u32 [%rd1], %r2;');

  it('blocks that write the same place', () => {
    const launch: BenchLaunch = { grid: [2, 1, 1], block: [1, 1, 1], args: [zeros(4)] };
    expect(titles(races(everyone, launch))).toEqual([]);
    const found = races(everyone, launch, { globalRaces: true });
    expect(only(found)).toMatchObject({ kind: 'writeAfterWrite', severity: 'error' });
    expect(only(found).occurrences[0]).toMatchObject({ block: [1, 0, 0], other: { block: [0, 0, 0] } });
  });

  it('threads of a block, ordered by its barrier or not', () => {
    const exchange = (between: string): string =>
      kernelText(
        `cvt.u64.u32 %rd3, %r3;
add.s64 %rd4, %rd1, %rd3;
st.global.u32 [%rd4], %r1;
${between}
xor.b64 %rd5, %rd3, 128;
add.s64 %rd6, %rd1, %rd5;
ld.global.u32 %r4, [%rd6];`,
      );
    const launch: BenchLaunch = { args: [zeros(256)] };
    expect(races(exchange(''), launch, { globalRaces: true }).report.totals.error).toBe(64);
    expect(titles(races(exchange('bar.sync 0;'), launch, { globalRaces: true }))).toEqual([]);
  });

  it('the last block may read what the others wrote, if they fenced', () => {
    const lastBlock = (fence: string): string =>
      kernelText(
        `mul.wide.u32 %rd3, %r2, 4;
add.s64 %rd4, %rd1, %rd3;
st.global.u32 [%rd4], %r2;
${fence}
atom.global.add.u32 %r4, [%rd2], 1;
setp.ne.u32 %p1, %r4, 3;
@%p1 ret;
${fence}
ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd1];`,
      );
    const launch: BenchLaunch = { grid: [4, 1, 1], block: [1, 1, 1], args: [zeros(16), zeros(4)] };
    expect(titles(races(lastBlock('fence.acq_rel.gpu;'), launch, { globalRaces: true }))).toEqual([]);
    expect(titles(races(lastBlock('membar.gl;'), launch, { globalRaces: true }))).toEqual([]);
    expect(races(lastBlock(''), launch, { globalRaces: true }).report.totals.error).toBe(3);
  });
});

describe('code that counts on lanes in step', () => {
  /** s[t] += s[t + 2]; s[t] += s[t + 1]; */
  const sums = (sync: string): string =>
    kernelText(
      `mov.u32 %r4, s;
add.s32 %r5, %r4, %r3;
st.volatile.shared.u32 [%r5], %r1;
st.volatile.shared.u32 [%r5+128], %r1;
${sync}
ld.volatile.shared.u32 %r6, [%r5+8];
ld.volatile.shared.u32 %r7, [%r5];
${sync}
add.s32 %r7, %r7, %r6;
st.volatile.shared.u32 [%r5], %r7;
${sync}
ld.volatile.shared.u32 %r6, [%r5+4];`,
      SHARED,
    );
  const warp: BenchLaunch = { block: [30, 1, 1] };

  it('is warned of, and not with bar.warp.sync between', () => {
    const { report } = races(sums(''), warp);
    expect(report.findings.map(({ kind, severity }) => [kind, severity])).toContainEqual([
      'readAfterWrite',
      'warning',
    ]);
    expect(report.totals.error).toBe(0);
    expect(report.findings[0]?.occurrences[0]?.detail).toContain('__syncwarp');
    expect(titles(races(sums('bar.warp.sync 0xffffffff;'), warp))).toEqual([]);
  });
});
