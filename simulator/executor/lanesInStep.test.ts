import { describe, expect, it } from 'vitest';
import { parseModule } from '../ptx/index.js';
import { loadModule, NodeMemory, WasmExecutor, type ExecutorLaunch, type RunResult } from './index.js';
import { ReferenceInterpreter } from './interpreter/index.js';
import type { BlockRange } from './types.js';
import { packParams } from './tests/referenceLaunch.js';

const FUEL = 50_000_000;

type Run = (memory: NodeMemory, launch: ExecutorLaunch, range: BlockRange) => RunResult;

function suspended(memory: NodeMemory, launch: ExecutorLaunch, range: BlockRange): RunResult {
  const executor = new WasmExecutor(memory);
  let result = executor.run(launch, range, 'resumable', 500);
  while (result.status === 'yield') result = executor.resume(result.suspended, 500);
  return result;
}

const ways: Readonly<Record<string, Run>> = {
  interpreter: (_, launch, range) => new ReferenceInterpreter().run(launch, range, 'fast', FUEL),
  fast: (memory, ...launch) => new WasmExecutor(memory).run(...launch, 'fast', FUEL),
  'lanes together': (memory, ...launch) =>
    new WasmExecutor(memory, { alwaysTogether: true }).run(...launch, 'fast', FUEL),
  'changing tiers': (memory, ...launch) =>
    new WasmExecutor(memory, { vectorAfter: 20_000 }).run(...launch, 'fast', FUEL),
  observed: (memory, ...launch) => new WasmExecutor(memory).run(...launch, 'observed', FUEL),
  resumable: suspended,
};

/** Runs `body` with `%t` = tid.x, `%s` the thread's word of shared `s` and `%out` its word of the output. */
function words(run: Run, body: string, threads: number, blocks = 1): number[] {
  const text = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_out)
{
.reg .b32 %t, %s, %r<16>;
.reg .b64 %out, %o;
.reg .pred %p<8>;
.shared .align 4 .b8 s[4096];
ld.param.u64 %out, [k_out];
cvta.to.global.u64 %out, %out;
mov.u32 %t, %tid.x;
mov.u32 %r0, %ctaid.x;
mov.u32 %r1, %ntid.x;
mad.lo.s32 %r0, %r0, %r1, %t;
mul.wide.u32 %o, %r0, 4;
add.s64 %out, %out, %o;
shl.b32 %s, %t, 2;
mov.u32 %r0, s;
add.s32 %s, %s, %r0;
${body}
ret;
}
`;
  const memory = new NodeMemory({ backingBytes: 6 * 2 ** 20 });
  const space = memory.createSpace();
  const bytes = threads * blocks * 4;
  const out = space.map(bytes, 'readWrite').virtualAddress;
  const module = loadModule(parseModule(text, 'k.ptx'), space);
  const [kernel] = module.ir.functions;
  if (kernel === undefined) throw new Error('no kernel');
  const shape = { grid: [blocks, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0 } as const;
  const launch = { module, kernel, shape, params: packParams(kernel, [out]) };
  const result = run(memory, launch, { lo: 0, hi: blocks });
  if (result.status === 'fault') throw new Error(result.fault.message);
  return [...new Int32Array(Uint8Array.from(space.view(out, bytes)).buffer)];
}

/** s[t] += s[t + k], as nvcc writes it of a volatile array, or of one that is not. */
function addFrom(k: number, order: string): string {
  return `ld${order}.shared.u32 %r2, [%s+${4 * k}];
ld${order}.shared.u32 %r3, [%s];
add.s32 %r2, %r2, %r3;
st${order}.shared.u32 [%s], %r2;
`;
}

const finish = `ld.volatile.shared.u32 %r2, [%s];
st.global.u32 [%out], %r2;`;

function scanOfWarp(order: string): string {
  const steps = [1, 2, 4, 8, 16].map(
    (k) => `setp.lt.u32 %p1, %r4, ${k};
@%p1 bra L${k};
ld${order}.shared.u32 %r2, [%s+${-4 * k}];
ld${order}.shared.u32 %r3, [%s];
add.s32 %r2, %r2, %r3;
st${order}.shared.u32 [%s], %r2;
L${k}:
`,
  );
  return `and.b32 %r4, %t, 31;\n${steps.join('')}`;
}

/** Sums of each warp's first 16 lanes and what is behind them. */
const sumOfWarp = `st.volatile.shared.u32 [%s], %t;
setp.gt.u32 %p1, %t, 15;
@%p1 bra E;
${[16, 8, 4, 2, 1].map((k) => addFrom(k, '.volatile')).join('')}E:
mov.u32 %r5, s;
ld.volatile.shared.u32 %r2, [%r5];
st.global.u32 [%out], %r2;`;

const spinLock = `setp.ne.u32 %p1, %t, 0;
@!%p1 st.shared.u32 [%s], 0;
@!%p1 st.shared.u32 [%s+4], 0;
bar.sync 0;
mov.u32 %r5, s;
AGAIN:
atom.shared.cas.b32 %r6, [%r5], 0, 1;
setp.ne.s32 %p2, %r6, 0;
@%p2 bra AGAIN;
ld.volatile.shared.u32 %r7, [%r5+4];
add.s32 %r7, %r7, 1;
st.volatile.shared.u32 [%r5+4], %r7;
atom.shared.exch.b32 %r6, [%r5], 0;
bar.sync 0;
ld.volatile.shared.u32 %r7, [%r5+4];
st.global.u32 [%out], %r7;`;

/** Odd lanes wait for what the even lane before them writes, on the way that is taken first. */
const waitForNeighbour = `st.volatile.shared.u32 [%s], 0;
bar.warp.sync 0xffffffff;
and.b32 %r4, %t, 1;
setp.eq.s32 %p1, %r4, 0;
@%p1 bra WRITES;
LOOK:
ld.volatile.shared.u32 %r2, [%s+-4];
setp.eq.s32 %p2, %r2, 0;
@%p2 bra LOOK;
bra E;
WRITES:
add.s32 %r2, %t, 100;
st.volatile.shared.u32 [%s], %r2;
E:
st.global.u32 [%out], %r2;`;

describe.each(Object.entries(ways))('lanes of a warp in step: %s', (_, run) => {
  it.each([
    ['volatile', '.volatile', '.volatile'],
    ['volatile, with a fence between', '.volatile', '.volatile', 'membar.cta;\n'],
    ['relaxed', '.relaxed.cta', '.relaxed.cta'],
    ['plain', '', ''],
    ['plain that volatile code fills', '.volatile', ''],
  ])('sums of four neighbours: %s', (_name, fill, order, between = '') => {
    const body = `add.s32 %r1, %t, 1;
st${fill}.shared.u32 [%s], %r1;
st${fill}.shared.u32 [%s+128], 0;
${addFrom(2, order)}${between}${addFrom(1, order)}${finish}`;
    const found = words(run, body, 32);
    // The last lanes add the zeros behind the warp.
    expect(found.slice(0, 29)).toEqual(Array.from({ length: 29 }, (_value, t) => 4 * t + 10));
  });

  it.each(['.volatile', ''])('a scan of 512 numbers, warp by warp (%s)', (order) => {
    const body = `add.s32 %r1, %t, 3;
st${order}.shared.u32 [%s], %r1;
${scanOfWarp(order)}${finish}`;
    const expected = Array.from({ length: 512 }, (_value, t) => {
      let sum = 0;
      for (let each = t & ~31; each <= t; each++) sum += each + 3;
      return sum;
    });
    expect(words(run, body, 512)).toEqual(expected);
  });

  it('a thousand blocks', () => {
    const found = words(run, sumOfWarp, 32, 1000);
    expect(new Set(found)).toEqual(new Set([496]));
  });

  it('results of atomics in a loop come in the order of its rounds', () => {
    const body = `st.shared.u32 [%s+128], 0;
bar.sync 0;
mov.u32 %r5, s;
mov.u32 %r4, 0;
mov.u32 %r7, 0;
AGAIN:
atom.shared.add.u32 %r6, [%r5+128], 1;
mad.lo.u32 %r7, %r7, 1000, %r6;
add.s32 %r4, %r4, 1;
setp.lt.u32 %p1, %r4, 3;
@%p1 bra AGAIN;
st.global.u32 [%out], %r7;`;
    const expected = Array.from({ length: 32 }, (_value, t) => t * 1e6 + (t + 32) * 1000 + t + 64);
    expect(words(run, body, 32)).toEqual(expected);
  });

  it('lanes that part at different rounds of a loop meet behind it', () => {
    const body = `st.volatile.shared.u32 [%s], %t;
and.b32 %r4, %t, 3;
AGAIN:
ld.volatile.shared.u32 %r2, [%s];
add.s32 %r2, %r2, 100;
st.volatile.shared.u32 [%s], %r2;
sub.s32 %r4, %r4, 1;
setp.ge.s32 %p1, %r4, 0;
@%p1 bra AGAIN;
xor.b32 %r5, %t, 3;
shl.b32 %r5, %r5, 2;
mov.u32 %r6, s;
add.s32 %r5, %r5, %r6;
ld.volatile.shared.u32 %r2, [%r5];
st.global.u32 [%out], %r2;`;
    const expected = Array.from({ length: 32 }, (_value, t) => (t ^ 3) + 100 * (((t ^ 3) & 3) + 1));
    expect(words(run, body, 32)).toEqual(expected);
  });

  it('of lanes that part, those that fall through go first, as on an H200', () => {
    const body = `mov.u32 %r5, s;
setp.gt.u32 %p1, %t, 15;
@%p1 bra TAKEN;
ld.volatile.shared.u32 %r2, [%r5];
st.volatile.shared.u32 [%r5], 7;
bra E;
TAKEN:
ld.volatile.shared.u32 %r2, [%r5];
st.volatile.shared.u32 [%r5], 9;
E:
ld.volatile.shared.u32 %r3, [%r5];
mad.lo.u32 %r2, %r2, 10, %r3;
st.global.u32 [%out], %r2;`;
    const expected = Array.from({ length: 32 }, (_value, t) => (t < 16 ? 9 : 79));
    expect(words(run, body, 32)).toEqual(expected);
  });

  // What an H200 leaves: half a warp stores 8 bytes a lane at once, a quarter 16.
  it.each([
    ['u32', '%t', 0],
    ['u16', '%h', 0],
    ['u64', '%w', 16],
    ['v2.u32', '{%t, %t}', 16],
    ['v4.u32', '{%t, %t, %t, %t}', 24],
  ])('of lanes that store to one place at once: %s', (type, value, stays) => {
    const body = `.reg .b16 %h;
.reg .b64 %w;
cvt.u16.u32 %h, %t;
cvt.u64.u32 %w, %t;
mov.u32 %r5, s;
st.shared.${type} [%r5], ${value};
bar.sync 0;
ld.volatile.shared.u16 %r2, [%r5];
st.global.u32 [%out], %r2;`;
    expect(words(run, body, 32)).toEqual(new Array<number>(32).fill(stays));
  });

  it('of lanes that store to one place that they have read, the lowest one stays', () => {
    const body = `and.b32 %r4, %t, 3;
shl.b32 %r4, %r4, 2;
st.volatile.shared.u32 [%s+512], %r4;
ld.volatile.shared.u32 %r4, [%s+512];
add.u32 %r4, %r4, %r0;
setp.gt.u32 %p1, %t, 2;
@%p1 st.shared.u32 [%r4], %t;
bar.sync 0;
ld.shared.u32 %r2, [%r4];
st.global.u32 [%out], %r2;`;
    const expected = Array.from({ length: 32 }, (_value, t) => [4, 5, 6, 3][t & 3]);
    expect(words(run, body, 32)).toEqual(expected);
  });

  // out[at(t)] = value(t), where at(t) has been read from memory; all as an H200 leaves it.
  const scatter = (at: string, store: string): string => `add.u32 %r4, %t, ${at};
mad.lo.u32 %r4, %r4, 37, 11;
rem.u32 %r4, %r4, 101;
st.shared.u32 [%s], %r4;
ld.shared.u32 %r4, [%s];
and.b32 %r4, %r4, 7;
ld.param.u64 %q0, [k_out];
mul.wide.u32 %q1, %r4, ${store.includes('64') ? 8 : 4};
add.u64 %q0, %q0, %q1;
${store}
`;
  const first = scatter('0', 'add.u32 %r5, %t, 1;\nst.global.u32 [%q0], %r5;');
  it.each([
    ['one', first, [2, 10, 5, 1, 8, 3, 11, 6]],
    [
      'one of 8 bytes',
      scatter('0', 'cvt.u64.u32 %q2, %t;\nadd.u64 %q2, %q2, 1;\nst.global.u64 [%q0], %q2;'),
      [27, 0, 22, 0, 17, 0, 25, 0, 21, 0, 29, 0, 24, 0, 19],
    ],
    [
      'two',
      `${first}${scatter('1', 'add.u32 %r5, %t, 100;\nst.global.u32 [%q0], %r5;')}`,
      [100, 108, 103, 111, 106, 101, 109, 104],
    ],
  ])('plain stores to places that lanes have read: %s', (_name, body, expected) => {
    const found = words(run, `.reg .b64 %q<3>;\n${body}`, 32);
    expect(found.slice(0, expected.length)).toEqual(expected);
  });

  it('plain stores of several lanes to one place that their numbers give', () => {
    const body = `shr.u32 %r4, %t, 2;
mad.lo.u32 %r4, %r4, 4, %r0;
st.shared.u32 [%r4], %t;
and.b32 %r4, %t, 7;
mad.lo.u32 %r4, %r4, 4, %r0;
st.shared.u32 [%r4+64], %t;
bar.sync 0;
ld.shared.u32 %r2, [%s];
st.global.u32 [%out], %r2;`;
    const found = words(run, body, 32);
    expect(found.slice(0, 8)).toEqual([0, 4, 8, 12, 16, 20, 24, 28]);
    expect(found.slice(16, 24)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('plain stores of neighbours to one place, one after another', () => {
    const body = `add.u32 %r4, %t, 100;
st.shared.u32 [%s], %t;
st.shared.u32 [%s+4], %r4;
bar.sync 0;
ld.shared.u32 %r2, [%s];
st.global.u32 [%out], %r2;`;
    const expected = Array.from({ length: 32 }, (_value, t) => (t === 0 ? 0 : 99 + t));
    expect(words(run, body, 32)).toEqual(expected);
  });

  it.each([
    ['fewer take the branch', 'setp.lt.u32 %p1, %t, 5;', 213],
    ['fewer fall through', 'setp.gt.u32 %p1, %t, 4;', 123],
    ['as many', 'setp.gt.u32 %p1, %t, 15;', 123],
  ])('of two ways that of fewer lanes goes first, as on an H200: %s', (_name, test, order) => {
    const visit = (digit: number): string => `ld.volatile.shared.u32 %r2, [%r5];
mad.lo.u32 %r2, %r2, 10, ${digit};
st.volatile.shared.u32 [%r5], %r2;
`;
    const body = `mov.u32 %r5, s;
${test}
@%p1 bra TAKEN;
${visit(1)}bra E;
TAKEN:
${visit(2)}E:
${visit(3)}st.global.u32 [%out], %r2;`;
    expect(words(run, body, 32)).toEqual(new Array<number>(32).fill(order));
  });

  it('the targets of a switch go by their lowest lanes, as on an H200', () => {
    const arms = [0, 1, 2, 3].map(
      (k) => `L${k}:
ld.volatile.shared.u32 %r2, [%r5];
mad.lo.u32 %r2, %r2, 10, ${k + 1};
st.volatile.shared.u32 [%r5], %r2;
bra E;
`,
    );
    const body = `mov.u32 %r5, s;
add.u32 %r4, %t, 2;
and.b32 %r4, %r4, 3;
ts: .branchtargets L0, L1, L2, L3;
brx.idx %r4, ts;
${arms.join('')}E:
ld.volatile.shared.u32 %r2, [%r5];
st.global.u32 [%out], %r2;`;
    expect(words(run, body, 32)).toEqual(new Array<number>(32).fill(3412));
  });

  it('lanes that come to one place by two targets of a switch are there one target after the other', () => {
    const body = `mov.u32 %r2, 99;
st.volatile.shared.u32 [%r0], 0;
bar.sync 0;
and.b32 %r4, %t, 3;
ts: .branchtargets A, B, E, E;
brx.idx %r4, ts;
A:
add.u32 %r5, %t, 1;
B:
atom.shared.add.u32 %r2, [%r0], 1;
E:
st.global.u32 [%out], %r2;`;
    const expected = Array.from({ length: 32 }, (_value, t) => [t >> 2, 8 + (t >> 2), 99, 99][t & 3]);
    expect(words(run, body, 32)).toEqual(expected);
  });

  it('a shuffle gives 0 for a lane that takes no part in it', () => {
    const steps = [16, 8, 4, 2, 1].map(
      (k) => `shfl.sync.down.b32 %r5, %r2, ${k}, 31, %r4;
add.u32 %r2, %r2, %r5;
`,
    );
    const body = `setp.lt.u32 %p1, %t, 8;
vote.sync.ballot.b32 %r4, %p1, 0xffffffff;
mov.u32 %r2, 1;
@!%p1 bra E;
${steps.join('')}E:
st.global.u32 [%out], %r2;`;
    expect(words(run, body, 32).slice(0, 9)).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 1]);
  });

  it.each([
    ['sleep', '@%p1 bra IN;\nnanosleep.u32 20;\nIN:', ''],
    [
      'enter a loop of waiting elsewhere',
      '@%p1 bra IN;\nAGAIN:\nadd.u32 %r6, %r6, 1;\nIN:',
      '@%p2 bra AGAIN;',
    ],
  ])('lanes meet those that %s before', (_name, parting, back) => {
    const body = `st.volatile.shared.u32 [%s], %t;
and.b32 %r4, %t, 7;
setp.lt.u32 %p1, %r4, 3;
${parting}
add.u32 %r5, %t, 1;
and.b32 %r5, %r5, 31;
mad.lo.u32 %r5, %r5, 4, %r0;
ld.volatile.shared.u32 %r2, [%s];
mad.lo.u32 %r2, %r2, 100, %t;
st.volatile.shared.u32 [%r5], %r2;
ld.volatile.shared.u32 %r2, [%s];
setp.eq.u32 %p2, %r2, 77777;
${back}
st.global.u32 [%out], %r2;`;
    const expected = Array.from({ length: 32 }, (_value, t) => 101 * ((t + 31) & 31));
    expect(words(run, body, 32)).toEqual(expected);
  });

  it('lanes that hold a lock are not kept from giving it back', () => {
    expect(words(run, spinLock, 64)).toEqual(new Array<number>(64).fill(64));
  });

  it('lanes that look so many times and no more for what others write', () => {
    const body = `st.volatile.shared.u32 [%s], 0;
bar.warp.sync 0xffffffff;
mov.u32 %r6, 0;
and.b32 %r4, %t, 1;
setp.eq.s32 %p1, %r4, 0;
@%p1 bra WRITES;
LOOK:
add.u32 %r6, %r6, 1;
ld.volatile.shared.u32 %r2, [%s+-4];
setp.eq.s32 %p2, %r2, 0;
setp.lt.and.u32 %p3, %r6, 20, %p2;
@%p3 bra LOOK;
bra E;
WRITES:
st.volatile.shared.u32 [%s], 1;
E:
st.global.u32 [%out], %r6;`;
    // Those that fall through go first, and have looked in vain when the others write.
    const expected = Array.from({ length: 32 }, (_value, t) => (t & 1) * 20);
    expect(words(run, body, 32)).toEqual(expected);
  });

  it('lanes that wait for others of their warp let them go on', () => {
    const expected = Array.from({ length: 32 }, (_value, t) => (t & ~1) + 100);
    expect(words(run, waitForNeighbour, 32)).toEqual(expected);
  });
});
