import { describe, expect, it } from 'vitest';
import { ReferenceInterpreter } from './interpreter/index.js';
import { LaunchBench, storingKernel, type KernelLaunch } from './tests/launchBench.js';
import type { Dim3, ExecutorVariant, KernelFault } from './types.js';

interface Seen {
  readonly words: readonly number[];
  readonly fault: Pick<KernelFault, 'code' | 'block' | 'thread' | 'ptxLine' | 'message'> | undefined;
}

type Runner = (text: string, launch: KernelLaunch, words: number) => Seen;

function compiled(variant: ExecutorVariant, fuel: number): Runner {
  return (text, launch, words) => {
    const bench = new LaunchBench();
    const [out, again] = [bench.buffer(words), bench.buffer(words)];
    const result = bench.run(text, { ...launch, values: [out, words], fuel }, variant);
    const used = bench.memory.usedBytes;
    bench.run(text, { ...launch, values: [again, words], fuel }, variant);
    expect(bench.memory.usedBytes).toBe(used);
    return { words: bench.words(out, words), fault: result.status === 'fault' ? result.fault : undefined };
  };
}

const runners: Readonly<Record<string, Runner>> = {
  interpreter: (text, launch, words) => {
    const bench = new LaunchBench();
    const out = bench.buffer(words);
    const { launch: placed, range } = bench.place(text, { ...launch, values: [out, words] });
    const result = new ReferenceInterpreter().run(placed, range, 'fast', 1e6);
    return { words: bench.words(out, words), fault: result.status === 'fault' ? result.fault : undefined };
  },
  'compiled code': compiled('fast', 1e6),
  'observed code': compiled('observed', 1e6),
  'code that yields': compiled('resumable', 200),
};

const SHARED =
  '.shared .align 16 .b8 before[64];\n.shared .align 16 .b32 box[64];\n.extern .shared .align 8 .b8 dynamic[];';
const meet = 'barrier.cluster.arrive; barrier.cluster.wait;';
/** %r2: the block's rank, %r3: how many there are, %r4: the rank of the next. */
const ranks =
  'mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %cluster_nctarank; add.u32 %r4, %r2, 1; rem.u32 %r4, %r4, %r3;';

describe.each(Object.keys(runners))('blocks of a cluster in %s', (name) => {
  const shape = {
    grid: [6, 1, 1] as Dim3,
    block: [48, 1, 1] as Dim3,
    cluster: [3, 1, 1] as Dim3,
    dynamicSharedBytes: 64,
  };
  const all = 6 * 48;
  const run = (body: string, launch: KernelLaunch = shape, words = all): Seen =>
    (runners[name] ?? runners['interpreter'])(storingKernel(`${ranks}\n${body}`, SHARED), launch, words);
  const each = (value: (block: number, thread: number) => number): number[] =>
    Array.from({ length: all }, (_, index) => value(Math.floor(index / 48), index % 48));
  const next = (block: number): number => Math.floor(block / 3) * 3 + ((block + 1) % 3);
  const before = (block: number): number => Math.floor(block / 3) * 3 + ((block + 2) % 3);

  it('store to one another by ranked addresses', () => {
    const body = `mov.u32 %r5, box; shl.b32 %r6, %r1, 2; add.u32 %r5, %r5, %r6; mapa.shared::cluster.u32 %r7, %r5, %r4;
      mov.u32 %r8, %ctaid.x; mad.lo.u32 %r8, %r8, 100, %r1; ${meet} st.shared::cluster.u32 [%r7], %r8; ${meet} ld.shared.u32 %r9, [%r5];`;
    expect(run(body)).toEqual({
      words: each((block, thread) => before(block) * 100 + thread),
      fault: undefined,
    });
  });

  it('load, and add to, generic addresses', () => {
    const body = `cvta.shared.u64 %rd1, box; mapa.u64 %rd2, %rd1, %r4; ${meet} atom.add.u32 %r5, [%rd2+8], %r1;
      red.shared::cluster.add.u32 [box+8], 1000; ${meet} ld.u32 %r9, [%rd2+8]; ${meet}`;
    expect(run(body).words).toEqual(each(() => (47 * 48) / 2 + 48 * 1000));
  });

  it('move vectors', () => {
    const body = `mov.u32 %r5, dynamic; mapa.shared::cluster.u32 %r6, %r5, %r4; mov.u32 %r7, %ctaid.x; setp.eq.u32 %p0, %r1, 7; ${meet}
      @%p0 st.shared::cluster.v4.u32 [%r6+16], {%r7, %r1, %r2, %r3}; ${meet} ld.shared.v2.u32 {%r10, %r11}, [dynamic+16]; mad.lo.u32 %r9, %r10, 100, %r11;`;
    expect(run(body).words).toEqual(each((block) => before(block) * 100 + 7));
  });

  it('give others addresses of their own memory', () => {
    const body = `cvta.shared.u64 %rd1, box; st.global.u64 [%rd0], %rd1; st.shared.u32 [box], 4711; membar.gl; ${meet}
      ld.volatile.global.u64 %rd3, [%rd0]; getctarank.u64 %r5, %rd3; ld.u32 %r6, [%rd3]; mad.lo.u32 %r9, %r5, 10000, %r6; ${meet}`;
    const { words } = run(body, { ...shape, grid: [3, 1, 1] }, 3 * 48);
    expect([4711, 14711, 24711]).toContain(words[0]);
    expect(words).toEqual(words.map(() => words[0]));
  });

  it('tell own from others', () => {
    const body = `cvta.shared.u64 %rd1, box; mapa.u64 %rd2, %rd1, %r4; mapa.u64 %rd3, %rd2, %r2;
      isspacep.shared::cta %p0, %rd1; selp.u32 %r9, 1, 0, %p0; isspacep.shared::cta %p0, %rd2; selp.u32 %r5, 2, 0, %p0; or.b32 %r9, %r9, %r5;
      isspacep.shared::cluster %p0, %rd2; selp.u32 %r5, 4, 0, %p0; or.b32 %r9, %r9, %r5; isspacep.shared::cluster %p0, %rd0; selp.u32 %r5, 8, 0, %p0;
      or.b32 %r9, %r9, %r5; setp.eq.u64 %p0, %rd3, %rd1; selp.u32 %r5, 16, 0, %p0; or.b32 %r9, %r9, %r5; getctarank.shared::cluster.u32 %r6, box;
      setp.eq.u32 %p0, %r6, %r2; selp.u32 %r5, 32, 0, %p0; or.b32 %r9, %r9, %r5;`;
    expect(run(body).words).toEqual(each(() => 1 + 4 + 16 + 32));
  });

  it('wait for all, and for threads that have ended no more', () => {
    const body = `mov.u32 %r5, %ctaid.x; setp.ge.u32 %p0, %r1, 40; setp.eq.u32 %p1, %r2, 1; and.pred %p0, %p0, %p1; @%p0 bra LEAVE;
      cvta.shared.u64 %rd1, box; mapa.u64 %rd2, %rd1, 0; ${meet} red.add.u32 [%rd2], 1; ${meet} ld.u32 %r9, [%rd2]; ${meet} bra ON; LEAVE: ret; ON:`;
    expect(run(body).words).toEqual(
      each((block, thread) => (block % 3 === 1 && thread >= 40 ? 0 : 3 * 48 - 8)),
    );
  });

  it('meet where lanes have parted', () => {
    const body = `mov.u32 %r9, 0; cvta.shared.u64 %rd1, box; mapa.u64 %rd2, %rd1, 0; ${meet} and.b32 %r5, %r1, 1; setp.eq.u32 %p0, %r5, 0; @%p0 bra EVEN;
      red.add.u32 [%rd2], 1; barrier.cluster.arrive; add.u32 %r9, %r9, 1000; barrier.cluster.wait; bra MET; EVEN: red.add.u32 [%rd2], 2; barrier.cluster.arrive; barrier.cluster.wait; MET:
      ld.u32 %r6, [%rd2]; add.u32 %r9, %r9, %r6; ${meet}`;
    expect(run(body).words).toEqual(each((_, thread) => 3 * 72 + (thread % 2) * 1000));
  });

  it('spin on what others write', () => {
    const body = `mov.u32 %r5, box; mapa.shared::cluster.u32 %r6, %r5, %r4; ${meet} setp.ne.u32 %p0, %r2, 0; setp.ne.u32 %p1, %r1, 0; @%p0 bra WAIT;
      @!%p1 st.shared::cluster.u32 [%r6], 5; bra DONE; WAIT: ld.volatile.shared.u32 %r7, [%r5]; setp.eq.u32 %p2, %r7, 0; @%p2 bra WAIT;
      add.u32 %r8, %r7, 1; setp.eq.u32 %p3, %r4, 0; @%p3 bra DONE; @!%p1 st.shared::cluster.u32 [%r6], %r8; DONE: ${meet} ld.shared.u32 %r9, [box];`;
    expect(run(body).words).toEqual(each((block) => [0, 5, 6][block % 3] ?? 0));
  });

  it('are blocks of one cluster in a grid of two dimensions', () => {
    const body = `cvta.shared.u64 %rd1, box; mapa.u64 %rd2, %rd1, 0; ${meet} mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.x; mad.lo.u32 %r5, %r5, 10, %r6;
      red.add.u32 [%rd2], %r5; ${meet} ld.u32 %r9, [%rd2]; ${meet} mov.u32 %r20, %nctaid.x; mov.u32 %r21, %ctaid.y; mul.lo.u32 %r21, %r21, %r20; mad.lo.u32 %r1, %r21, 1, %r1;`;
    const { words, fault } = run(body, { grid: [4, 4, 1], block: [1, 1, 1], cluster: [2, 2, 1] }, 16);
    expect(fault).toBeUndefined();
    const sum = (x: number, y: number): number => 4 * (10 * y + x) + 22;
    expect(words).toEqual(
      Array.from({ length: 16 }, (_, at) => sum(2 * Math.floor((at % 4) / 2), 2 * Math.floor(at / 8))),
    );
  });

  it('are each a cluster where the launch has none', () => {
    const body = `cvta.shared.u64 %rd1, box; mapa.u64 %rd2, %rd1, 0; st.shared.u32 [box], 3; ${meet} ld.shared::cluster.u32 %r9, [box]; ${meet} ld.u32 %r5, [%rd2]; add.u32 %r9, %r9, %r5;`;
    expect(run(body, { ...shape, cluster: undefined }).words).toEqual(each(() => 6));
    expect(next(5)).toBe(3);
  });

  it.each([
    [
      'mapa.shared::cluster.u32 %r5, box, 7; ld.shared::cluster.u32 %r9, [%r5];',
      'clusterBlockNotPresent',
      '0x7000000',
    ],
    [
      'mov.u32 %r5, box; mapa.shared::cluster.u32 %r6, %r5, 200; st.shared::cluster.u32 [%r6], 1;',
      'clusterBlockNotPresent',
      '0xc8000000',
    ],
    [
      `mov.u32 %r5, box; mapa.shared::cluster.u32 %r6, %r5, %r4; ${meet} ld.shared::cluster.u32 %r9, [%r6+8192];`,
      'sharedOutOfBounds',
      'shared',
    ],
    [
      `mov.u32 %r5, box; mapa.shared::cluster.u32 %r6, %r5, %r4; ${meet} ld.shared::cluster.u32 %r9, [%r6+2];`,
      'misalignedAddress',
      'test.ptx',
    ],
    [
      'mov.u32 %r5, box; mapa.shared::cluster.u32 %r6, %r5, %r4; ld.shared.u32 %r9, [%r6];',
      'sharedOutOfBounds',
      'shared',
    ],
    [
      'mov.u32 %r5, box; mapa.shared::cluster.u32 %r6, %r5, %r4; ld.shared::cta.u32 %r9, [%r6];',
      'sharedOutOfBounds',
      'shared',
    ],
    [
      'barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait;',
      'illegalInstruction',
      'arrives at the barrier of its cluster again',
    ],
    ['barrier.cluster.wait;', 'illegalInstruction', 'at which it has not arrived'],
  ])('%s faults', (body, code, message) => {
    const { fault } = run(body);
    const last = body.includes('arrive; barrier.cluster.wait; ld');
    expect(fault).toMatchObject({ code, block: [last ? 2 : 0, 0, 0], thread: [last ? 32 : 0, 0, 0] });
    expect(fault?.message).toContain(message);
    expect(fault?.message).toContain('test.ptx:');
  });

  it('fault where they reach the memory of one that has ended', () => {
    // Who has ended counts as arrived, so that nobody is behind the second barrier before.
    const body = `mov.u32 %r5, box; mapa.shared::cluster.u32 %r6, %r5, 1; ${meet} setp.eq.u32 %p0, %r2, 1; @%p0 bra END; ${meet}
      ld.shared::cluster.u32 %r9, [%r6]; END:`;
    const { fault } = run(body);
    expect(fault?.code).toBe('clusterBlockNotPresent');
    expect(fault?.message).toContain('0x1000000');
  });

  it('are in deadlock where one of them does not come', () => {
    const body = `setp.ne.u32 %p0, %r2, 2; setp.lt.u32 %p1, %r1, 32; or.pred %p2, %p0, %p1; @%p2 bra MEET;
      bar.sync 3, 64; MEET: barrier.cluster.arrive;\nbarrier.cluster.wait;`;
    const { fault } = run(body);
    expect(fault).toMatchObject({ code: 'deadlock', block: [0, 0, 0], thread: [0, 0, 0] });
    const text = storingKernel(`${ranks}\n${body}`, SHARED).split('\n');
    expect(text[(fault?.ptxLine ?? 0) - 1]).toBe('barrier.cluster.wait;');
    expect(fault?.message).toContain('thread 32 of block 2, which waits at line');
  });

  it('meet at an aligned barrier, whose lanes may not part', () => {
    const aligned = 'barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;';
    expect(run(`${aligned} mov.u32 %r9, 1; ${aligned}`).words).toEqual(each(() => 1));
    const parted = `and.b32 %r5, %r1, 1; setp.eq.u32 %p0, %r5, 0; barrier.cluster.arrive.aligned; @%p0 bra EVEN; barrier.cluster.wait.aligned; bra MET; EVEN: barrier.cluster.wait.aligned; MET:`;
    expect(run(parted).fault?.code).toBe('divergentBarrier');
  });
});

it('refuses a part of a cluster', () => {
  const bench = new LaunchBench();
  const text = storingKernel(meet);
  const { launch } = bench.place(text, {
    values: [bench.buffer(128), 1],
    grid: [4, 1, 1],
    cluster: [2, 1, 1],
  });
  expect(() => bench.executor.run(launch, { lo: 0, hi: 3 }, 'fast', 1e6)).toThrow(
    '[0, 3) cuts a cluster of 2 blocks',
  );
  expect(() => new ReferenceInterpreter().run(launch, { lo: 1, hi: 3 }, 'fast', 1e6)).toThrow(
    'clusters of 2 blocks run whole',
  );
});
