import { describe, expect, it } from 'vitest';
import { ExecutorError } from './runtime/index.js';
import { WasmExecutor, type ExecutorVariant, type RunResult } from './index.js';
import { LaunchBench, storingKernel, type KernelLaunch } from './tests/launchBench.js';

const bench = new LaunchBench();
const variants: readonly ExecutorVariant[] = ['fast', 'observed', 'resumable'];

function textOf(result: RunResult): string {
  return result.status === 'fault' ? result.fault.message : result.status;
}

/** Runs a kernel to its end and gives what each thread stored. */
function results(
  variant: ExecutorVariant,
  body: string,
  launch: KernelLaunch,
  variables = '',
  extra: readonly number[] = [0],
): number[] {
  const [blocks] = launch.grid ?? [1];
  const [threads] = launch.block ?? [32];
  const out = bench.buffer(blocks * threads);
  const run = bench.run(storingKernel(body, variables), { values: [out, ...extra], ...launch }, variant);
  expect(textOf(run)).toBe('done');
  return bench.words(out, blocks * threads);
}

/** Warp 0 waits for what warp 1 writes: in the order of warps nobody would ever get on. */
const flagBetweenWarps = `
setp.lt.u32 %p1, %r1, 32;
@!%p1 bra WRITER;
WAIT:
ld.volatile.shared.u32 %r2, [flag];
setp.eq.u32 %p2, %r2, 0;
@%p2 bra WAIT;
ld.shared.u32 %r9, [value];
bra DONE;
WRITER:
setp.ne.u32 %p3, %r1, 63;
@%p3 bra AFTER;
st.shared.u32 [value], 77;
membar.cta;
st.volatile.shared.u32 [flag], 1;
AFTER:
mov.u32 %r9, 5;
DONE:`;
const flagVariables = '.shared .align 4 .u32 flag;\n.shared .align 4 .u32 value;';

/** A lock that every lane of every warp takes, around a count that is read and written plainly. */
const lock = `
mov.u64 %rd1, lock;
mov.u64 %rd2, count;
TAKE:
atom.global.cas.b32 %r2, [%rd1], 0, 1;
setp.ne.s32 %p1, %r2, 0;
@%p1 bra TAKE;
ld.volatile.global.u32 %r9, [%rd2];
add.u32 %r3, %r9, 1;
st.volatile.global.u32 [%rd2], %r3;
membar.gl;
atom.global.exch.b32 %r4, [%rd1], 0;`;
const lockVariables = '.global .align 4 .u32 lock;\n.global .align 4 .u32 count;';

/** The last block goes first: each waits for the flag of the next one. */
const backwards = `
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %nctaid.x;
add.u32 %r4, %r2, 1;
mov.u64 %rd1, flags;
mul.wide.u32 %rd2, %r2, 4;
add.u64 %rd2, %rd1, %rd2;
setp.eq.u32 %p1, %r4, %r3;
mov.u32 %r5, 1;
@%p1 bra WRITE;
setp.ne.u32 %p2, %r1, 0;
@%p2 bra JOIN;
WAIT:
ld.acquire.gpu.global.u32 %r5, [%rd2+4];
setp.eq.u32 %p3, %r5, 0;
@%p3 bra WAIT;
add.u32 %r5, %r5, 1;
WRITE:
setp.ne.u32 %p2, %r1, 0;
@%p2 bra JOIN;
st.release.gpu.global.u32 [%rd2], %r5;
JOIN:
bar.sync 0;
ld.global.u32 %r9, [%rd2];`;

/** Blocks meet three times; each adds to a sum that all read behind the meeting. */
const gridBarrier = `
mov.u64 %rd1, arrived;
mov.u32 %r2, %nctaid.x;
mov.u32 %r3, 0;
mov.u32 %r9, 0;
ROUND:
setp.ne.u32 %p1, %r1, 0;
@%p1 bra MEET;
mov.u32 %r20, %ctaid.x;
mad.lo.u32 %r21, %r3, 100, %r20;
red.global.add.u32 [%rd1+4], %r21;
membar.gl;
atom.global.add.u32 %r4, [%rd1], 1;
add.u32 %r5, %r3, 1;
mul.lo.u32 %r5, %r5, %r2;
WAIT:
ld.acquire.gpu.global.u32 %r6, [%rd1];
setp.lt.u32 %p2, %r6, %r5;
@%p2 bra WAIT;
MEET:
bar.sync 0;
ld.global.u32 %r7, [%rd1+4];
bar.sync 0;
@%p1 bra SECOND;
atom.global.add.u32 %r4, [%rd1+8], 1;
WAITMORE:
ld.acquire.gpu.global.u32 %r6, [%rd1+8];
setp.lt.u32 %p2, %r6, %r5;
@%p2 bra WAITMORE;
SECOND:
bar.sync 0;
add.u32 %r9, %r9, %r7;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p3, %r3, 3;
@%p3 bra ROUND;`;

describe.each(variants)('threads that wait for one another end (%s)', (variant) => {
  it('through a flag in shared memory', () => {
    const found = results(variant, flagBetweenWarps, { block: [64, 1, 1] }, flagVariables);
    expect(found).toEqual([...new Array<number>(32).fill(77), ...new Array<number>(32).fill(5)]);
  });

  it('through a lock that lanes of one warp contend for', () => {
    const found = results(variant, lock, { block: [96, 1, 1], grid: [3, 1, 1] }, lockVariables);
    expect(found.sort((a, b) => a - b)).toEqual([...new Array<number>(288).keys()]);
  });

  it('through a lock that is held across a meeting of the warp', () => {
    // Lane 0 takes the lock, meets the others, and only then gives it back; the others spin behind the meeting.
    const body = `
mov.u64 %rd1, lock;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra MEET;
atom.global.exch.b32 %r2, [%rd1], 1;
MEET:
bar.warp.sync 0xffffffff;
@%p1 bra TAKE;
bra GIVE;
TAKE:
atom.global.cas.b32 %r2, [%rd1], 0, 1;
setp.ne.s32 %p2, %r2, 0;
@%p2 bra TAKE;
GIVE:
atom.global.exch.b32 %r4, [%rd1], 0;
mov.u32 %r9, %r4;`;
    expect(results(variant, body, {}, lockVariables)).toEqual(new Array<number>(32).fill(1));
  });

  it('from the last block to the first', () => {
    const found = results(variant, backwards, { grid: [7, 1, 1] }, '.global .align 4 .u32 flags[8];');
    expect(found.filter((_, index) => index % 32 === 0)).toEqual([7, 6, 5, 4, 3, 2, 1]);
  });

  it('at a barrier of 8 blocks, three times', () => {
    const launch: KernelLaunch = { grid: [8, 1, 1], block: [64, 1, 1] };
    const found = results(variant, gridBarrier, launch, '.global .align 4 .u32 arrived[4];');
    const sums = [0, 1, 2].map((round) => 8 * 100 * round + 28);
    const running = sums.map((_, round) => sums.slice(0, round + 1).reduce((a, b) => a + b));
    expect(found).toEqual(new Array<number>(512).fill(running.reduce((a, b) => a + b)));
  });

  it('by a plain load of one place behind a fence', () => {
    const body = flagBetweenWarps.replace('ld.volatile.shared.u32', 'ld.shared.u32');
    const found = results(variant, body, { block: [64, 1, 1] }, flagVariables);
    expect(found[0]).toBe(77);
  });
});

describe('threads that wait for nothing that ever comes', () => {
  const never = flagBetweenWarps.replace('st.volatile.shared.u32 [flag], 1;', '');

  it.each(['fast', 'observed'] as const)('are a deadlock where they look (%s)', (variant) => {
    const text = storingKernel(never, flagVariables);
    const result = bench.run(
      text,
      { values: [bench.buffer(128), 0], block: [64, 1, 1], grid: [2, 1, 1] },
      variant,
    );
    if (result.status !== 'fault') throw new Error(result.status);
    expect(result.fault).toMatchObject({ code: 'deadlock', block: [0, 0, 0], thread: [0, 0, 0] });
    expect(text.split('\n')[result.fault.ptxLine - 1]).toContain('ld.volatile');
  });

  it('and count meanwhile, end by fuel', () => {
    const counting = never.replace(
      'setp.eq.u32 %p2, %r2, 0;',
      'setp.eq.u32 %p2, %r2, 0;\nadd.u32 %r9, %r9, 1;',
    );
    const text = storingKernel(counting, flagVariables);
    const result = bench.run(text, { values: [bench.buffer(64), 0], block: [64, 1, 1], fuel: 20_000 });
    if (result.status !== 'fault') throw new Error(result.status);
    expect(result.fault.code).toBe('fuelExhausted');
  });

  it('a lock that is never given back', () => {
    const text = storingKernel(lock.replace(/atom.global.exch.*/, ''), lockVariables);
    const result = bench.run(text, { values: [bench.buffer(32), 0] });
    if (result.status !== 'fault') throw new Error(result.status);
    expect(result.fault.code).toBe('deadlock');
  });
});

describe('suspended runs', () => {
  /** Each thread sums its neighbours' values over many rounds with barriers, shuffles and local state. */
  const long = `
mov.u32 %r9, %r1;
mov.u32 %r2, 0;
ROUND:
shl.b32 %r3, %r1, 2;
mov.u32 %r4, shared;
add.u32 %r4, %r4, %r3;
st.shared.u32 [%r4], %r9;
bar.sync 0;
xor.b32 %r5, %r3, 128;
mov.u32 %r6, shared;
add.u32 %r6, %r6, %r5;
ld.shared.u32 %r7, [%r6];
bar.sync 0;
shfl.sync.bfly.b32 %r8, %r9, 5, 31, -1;
and.b32 %r10, %r1, 7;
mov.u32 %r11, 0;
INNER:
mad.lo.u32 %r7, %r7, 31, %r11;
add.u32 %r11, %r11, 1;
setp.lt.u32 %p1, %r11, %r10;
@%p1 bra INNER;
add.u32 %r9, %r7, %r8;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p2, %r2, 20;
@%p2 bra ROUND;`;
  const variables = '.shared .align 4 .u32 shared[64];';
  const shape: KernelLaunch = { block: [64, 1, 1], grid: [3, 1, 1] };
  const expected = results('fast', long, shape, variables);

  it.each([1, 7, 100, 3333])('compute the same with %i thread-instructions a turn', (fuel) => {
    expect(results('resumable', long, { ...shape, fuel }, variables)).toEqual(expected);
  });

  it('survive other launches, and one another', () => {
    const text = storingKernel(long, variables);
    const outs = [bench.buffer(192), bench.buffer(192)];
    let runs = outs.map((out) => {
      const { launch, range } = bench.place(text, { values: [out, 0], ...shape });
      return bench.executor.run(launch, range, 'resumable', 50);
    });
    let turns = 0;
    while (runs.some((run) => run.status === 'yield')) {
      runs = runs.map((run) => (run.status === 'yield' ? bench.executor.resume(run.suspended, 50) : run));
      if (turns % 100 === 0) {
        const between = results('fast', flagBetweenWarps, { block: [64, 1, 1] }, flagVariables);
        expect(between[0]).toBe(77);
      }
      turns += 1;
    }
    expect(turns).toBeGreaterThan(10);
    for (const out of outs) expect(bench.words(out, 192)).toEqual(expected);
  });

  it('may be of a kernel with very many loops', () => {
    const loops = Array.from(
      { length: 100 },
      (_, index) =>
        `mov.u32 %r2, 0;\nL${index}:\nmad.lo.u32 %r9, %r9, 3, %r1;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, ${1 + (index % 4)};\n@%p1 bra L${index};`,
    );
    const body = `mov.u32 %r9, 1;\n${loops.join('\n')}`;
    expect(results('resumable', body, { fuel: 500 })).toEqual(results('fast', body, {}));
  });

  it('are resumed once, by their own executor', () => {
    const { launch, range } = bench.place(storingKernel(long, variables), {
      values: [bench.buffer(192), 0],
      ...shape,
    });
    const run = bench.executor.run(launch, range, 'resumable', 50);
    if (run.status !== 'yield') throw new Error(run.status);
    const other = new WasmExecutor(bench.memory);
    expect(() => other.resume(run.suspended, 50)).toThrow(ExecutorError);
    bench.executor.resume(run.suspended, 50);
    expect(() => bench.executor.resume(run.suspended, 50)).toThrow(/resumed before/);
  });

  it('yield while they wait for what only another launch writes', () => {
    const flag = bench.buffer(1);
    const body = `
ld.param.u64 %rd3, [n2];
WAIT:
nanosleep.u32 100;
ld.relaxed.gpu.global.u32 %r9, [%rd3];
setp.eq.u32 %p1, %r9, 0;
@%p1 bra WAIT;`;
    const text = storingKernel(body).replace('.param .u32 n)', '.param .u32 n, .param .u64 n2)');
    const out = bench.buffer(32);
    const { launch, range } = bench.place(text, { values: [out, 0, flag] });
    let run = bench.executor.run(launch, range, 'resumable', 1e6);
    for (let look = 0; look < 5; look++) {
      if (run.status !== 'yield') throw new Error(run.status);
      run = bench.executor.resume(run.suspended, 1e6);
    }
    bench.space.view(flag, 4)[0] = 9;
    while (run.status === 'yield') run = bench.executor.resume(run.suspended, 1e6);
    expect(bench.words(out, 32)).toEqual(new Array<number>(32).fill(9));
  });
});

describe('needsWholeGrid', () => {
  const asks = (body: string, variables = ''): boolean =>
    bench.executor.needsWholeGrid(bench.place(storingKernel(body, variables), { values: [0, 0] }).launch);

  it('holds for kernels that wait for other blocks', () => {
    expect(asks(backwards, '.global .align 4 .u32 flags[8];')).toBe(true);
    expect(asks(lock, lockVariables)).toBe(true);
  });

  it('does not for waits within a block, counters, tries again, searches and reread bounds', () => {
    expect(asks(flagBetweenWarps, flagVariables)).toBe(false);
    const variables = '.global .align 4 .u32 cell;';
    const counter =
      'mov.u64 %rd1, cell;\nMORE:\natom.global.add.u32 %r2, [%rd1], 1;\nsetp.lt.u32 %p1, %r2, %r0;\n@%p1 bra MORE;';
    expect(asks(counter, variables)).toBe(false);
    const retry = `mov.u64 %rd1, cell;
ld.global.u32 %r2, [%rd1];
MORE:
mov.u32 %r3, %r2;
max.u32 %r4, %r3, %r1;
atom.global.cas.b32 %r2, [%rd1], %r3, %r4;
setp.ne.u32 %p1, %r2, %r3;
@%p1 bra MORE;`;
    expect(asks(retry, variables)).toBe(false);
    const search =
      'mov.u64 %rd1, cell;\nMORE:\nld.global.u32 %r2, [%rd1];\nadd.u64 %rd1, %rd1, 4;\nsetp.ne.u32 %p1, %r2, %r0;\n@%p1 bra MORE;';
    expect(asks(search, variables)).toBe(false);
    const bound =
      'mov.u64 %rd1, cell;\nMORE:\nadd.u32 %r3, %r3, 1;\nld.global.u32 %r2, [%rd1];\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra MORE;';
    expect(asks(bound, variables)).toBe(false);
    const probe = `mov.u64 %rd1, cell;
MORE:
atom.global.cas.b32 %r2, [%rd1], 0, %r1;
add.u64 %rd1, %rd1, 4;
setp.ne.u32 %p1, %r2, 0;
@%p1 bra MORE;`;
    expect(asks(probe, variables)).toBe(false);
  });
});
