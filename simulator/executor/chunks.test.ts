import { describe, expect, it } from 'vitest';
import type { Dim3, RunResult } from './index.js';
import { LaunchBench, storingKernel } from './tests/launchBench.js';

interface Case {
  readonly body: string;
  readonly block?: Dim3;
  readonly fuel?: number;
}

/** Runs a kernel lane after lane and with lanes together, and gives back both results with what they stored. */
function bothWays({ body, block = [64, 1, 1], fuel }: Case): readonly [unknown, unknown] {
  const ways = [{ without: new Set(['vector'] as const) }, { alwaysTogether: true }];
  const [apart, together] = ways.map((options) => {
    const bench = new LaunchBench(options);
    const threads = 2 * block[0] * block[1] * block[2];
    const out = bench.buffer(threads);
    const launch = {
      values: [out],
      grid: [2, 1, 1] as const,
      block,
      ...(fuel === undefined ? {} : { fuel }),
    };
    return seen(bench.run(storingKernel(body), launch), bench.words(out, threads));
  });
  return [apart, together];
}

function seen(result: RunResult, words: readonly number[]): unknown {
  if (result.status === 'fault') {
    const { code, thread, block } = result.fault;
    return { code, thread, block };
  }
  return { status: result.status, counters: result.counters, words };
}

const blocks: readonly Dim3[] = [
  [32, 1, 1],
  [70, 1, 1],
  [16, 3, 1],
  [8, 2, 3],
  [4, 5, 1],
  [5, 3, 1],
];

describe('lanes that run together', () => {
  it.each(blocks.map((block) => [block.join('x'), block] as const))(
    'give what lanes give one after another, wherever they part (%s)',
    (_, block) => {
      const [apart, together] = bothWays({
        block,
        body: `mov.u32 %r4, %tid.x;
          mov.u32 %r2, %laneid;
          mov.u32 %r9, 0;
          setp.gt.u32 %p1, %r4, 10;
          @%p1 bra FAR;
          mad.lo.u32 %r9, %r4, 3, %r2;
          AGAIN:
          add.u32 %r9, %r9, 5;
          sub.u32 %r4, %r4, 1;
          setp.gt.s32 %p1, %r4, 0;
          @%p1 bra AGAIN;
          bra END;
          FAR:
          mov.u32 %r3, %lanemask_lt;
          popc.b32 %r9, %r3;
          END:`,
      });
      expect(together).toEqual(apart);
    },
  );

  it('go on one by one where a widened index wraps inside a chunk', () => {
    const [apart, together] = bothWays({
      body: `add.u32 %r4, %r1, 0x7ffffff0;
        mul.wide.s32 %rd5, %r4, 4;
        shr.u64 %rd5, %rd5, 32;
        cvt.u32.u64 %r9, %rd5;`,
    });
    expect(together).toEqual(apart);
  });

  it.each([
    ['a sum and its carry', 'add.cc.u32 %r4, %r0, %r3; addc.u32 %r5, %r3, 0; add.u32 %r9, %r4, %r5;'],
    ['a carry and the sum', 'add.cc.u32 %r5, %r1, -3; add.cc.u32 %r4, %r0, -1; addc.u32 %r9, %r5, %r4;'],
    [
      'two predicates',
      'setp.lt.u32 %p1, %r1, 7; setp.lt.u32 %p1|%p2, %r0, %r3; selp.u32 %r4, 1, 2, %p1; selp.u32 %r9, %r4, 3, %p2;',
    ],
    ['halves', 'mov.b64 %rd5, {%r0, %r3}; mov.b64 {%r4, %r5}, %rd5; mad.lo.u32 %r9, %r4, 5, %r5;'],
    ['a vector', 'ld.shared.v2.u32 {%r4, %r5}, [same]; mad.lo.u32 %r9, %r4, 5, %r5;'],
  ])('write %s of which one differs elsewhere', (_, several) => {
    const [apart, together] = bothWays({
      body: `.shared .align 8 .b32 same[2];
        mov.u32 %r3, %nctaid.x;
        mul.lo.u32 %r4, %r1, %r1;
        st.shared.u32 [same], %r3;
        st.shared.u32 [same+4], 9;
        setp.eq.u32 %p3, %r3, 3;
        @%p3 bra SKIP;
        ${several}
        SKIP:
        add.u32 %r9, %r9, %r4;`,
    });
    expect(together).toEqual(apart);
  });

  it('run out of fuel where lanes one after another do', () => {
    const body = `mov.u32 %r9, 0;
      ROUND:
      add.u32 %r9, %r9, 1;
      setp.lt.u32 %p1, %r9, 100;
      @%p1 bra ROUND;`;
    for (const fuel of [18_000, 19_008, 19_007, 20_000]) {
      const [apart, together] = bothWays({ body, fuel });
      expect((together as { code?: string }).code).toBe((apart as { code?: string }).code);
    }
  });

  it('name the lane whose access faults', () => {
    const [apart, together] = bothWays({
      body: `mov.u64 %rd5, 64;
        setp.eq.u32 %p1, %r1, 37;
        mov.u32 %r9, 0;
        @%p1 ld.global.u32 %r9, [%rd5];`,
    });
    expect(together).toEqual(apart);
    expect(together).toMatchObject({ code: 'illegalAddress', thread: [37, 0, 0] });
  });
});
