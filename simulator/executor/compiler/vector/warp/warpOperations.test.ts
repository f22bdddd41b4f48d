import { SeededRandom } from '../../../../random/index.js';
import { describe, expect, it } from 'vitest';
import { parseModule } from '../../../../ptx/index.js';
import { loadModule, NodeMemory, WasmExecutor, type Executor, type ExecutorLaunch } from '../../../index.js';
import { ReferenceInterpreter } from '../../../interpreter/index.js';
import type { Optimisation } from '../../plan/index.js';

/** Each writes %r9 and %p1; %r1 to %r3 and %rd4 are the thread's own words, %p2 is odd(%r1), %p3 is %r1 > 0. */
const shuffles = ['up', 'down', 'bfly', 'idx'].flatMap((mode) =>
  [
    ['0', '31'],
    ['1', '31'],
    ['3', '7199'],
    ['5', '6175'],
    ['16', '31'],
    ['17', '0'],
    ['2', '5'],
    ['29', '4115'],
    ['%r2', '31'],
    ['%r2', '%r3'],
    ['4', '%r3'],
  ].map(([by, clamp]) => `shfl.sync.${mode}.b32 %r9|%p1, %r1, ${by}, ${clamp}, -1;`),
);
const forms = [
  ...shuffles,
  'shfl.sync.bfly.b32 %r9, %r1, 8, 31, 0xffffffff;',
  'shfl.sync.down.b32 %r9, %r1, 2, 31, %r4;',
  'shfl.sync.idx.b32 %f1, %f1, 7, 31, -1; mov.b32 %r9, %f1;',
  'shfl.sync.up.b32 %r1, %r1, 9, 0, -1; mov.u32 %r9, %r1;',
  ...['all', 'any', 'uni'].flatMap((mode) =>
    ['%p2', '!%p2', '%p3', '!%p3', '1', '0'].map((p) => `vote.sync.${mode}.pred %p1, ${p}, -1;`),
  ),
  'vote.sync.ballot.b32 %r9, %p2, -1;',
  'vote.sync.ballot.b32 %r9, !%p3, %r4;',
  ...['min', 'max', 'add'].flatMap((op) =>
    ['s32', 'u32'].map((type) => `redux.sync.${op}.${type} %r9, %r1, -1;`),
  ),
  ...['and', 'or', 'xor'].map((op) => `redux.sync.${op}.b32 %r9, %r1, -1;`),
  'redux.sync.add.s32 %r9, 3, -1;',
  'match.any.sync.b32 %r9, %r2, -1;',
  'match.any.sync.b32 %r9, %r5, %r4;',
  'match.any.sync.b64 %r9, %rd4, -1;',
  'match.all.sync.b32 %r9|%p1, %r1, -1;',
  'match.all.sync.b32 %r9|%p1, %r5, -1;',
  'match.all.sync.b64 %r9|%p1, %rd4, -1;',
  'match.all.sync.b64 %r9|%p1, %rd5, -1;',
  'activemask.b32 %r9;',
  'elect.sync %r9|%p1, -1;',
  'bar.warp.sync -1; mov.u32 %r9, %r1;',
];

function kernelOf(form: string): string {
  return `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .pred %p<8>;
.reg .f32 %f<8>;
.reg .b32 %r<16>;
.reg .b64 %rd<16>;
ld.param.u64 %rd0, [in];
ld.param.u64 %rd1, [out];
mov.u32 %r0, %tid.x;
mul.wide.u32 %rd2, %r0, 16;
add.s64 %rd0, %rd0, %rd2;
ld.global.u32 %r1, [%rd0];
ld.global.u32 %r2, [%rd0+4];
ld.global.u32 %r3, [%rd0+8];
ld.global.u32 %r10, [%rd0+12];
ld.global.f32 %f1, [%rd0];
mov.b64 %rd4, {%r2, %r10};
mov.u32 %r4, -1;
mov.u32 %r5, 7;
mov.u64 %rd5, 77;
mov.u32 %r9, 0;
and.b32 %r6, %r1, 1;
setp.eq.u32 %p2, %r6, 1;
setp.gt.s32 %p3, %r1, 0;
setp.eq.u32 %p1, %r0, 99;
${form}
selp.u32 %r11, 1, 0, %p1;
mul.wide.u32 %rd3, %r0, 8;
add.s64 %rd1, %rd1, %rd3;
st.global.u32 [%rd1], %r9;
st.global.u32 [%rd1+4], %r11;
ret;
}`;
}

/** Words of each thread: of few values, so that lanes match, and shuffle distances and bounds. */
function words(threads: number, seed: number): Int32Array {
  const random = new SeededRandom(seed);
  const next = (): number => random.word() >>> 8;
  return Int32Array.from({ length: threads * 4 }, (_, index) => {
    const kinds = [
      next() - (1 << 23),
      next() % 32,
      [31, 7, 0x1c1f, 0x181f, 0x1003][next() % 5] ?? 0,
      next() % 2,
    ];
    return kinds[index % 4] ?? 0;
  });
}

function results(form: string, threads: number, without?: readonly Optimisation[]): Int32Array {
  const memory = new NodeMemory({ backingBytes: 8 * 2 ** 20 });
  const space = memory.createSpace();
  const input = words(threads, threads);
  const inBytes = input.byteLength;
  const from = space.map(inBytes, 'readWrite').virtualAddress;
  space.view(from, inBytes).set(new Uint8Array(input.buffer));
  const to = space.map(threads * 8, 'readWrite').virtualAddress;
  const module = loadModule(parseModule(kernelOf(form), 'warp.ptx'), space);
  const [kernel] = module.ir.functions;
  if (kernel === undefined) throw new Error('no kernel');
  const params = new Uint8Array(16);
  new BigInt64Array(params.buffer).set([BigInt(from), BigInt(to)]);
  const shape: ExecutorLaunch['shape'] = { grid: [1, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0 };
  const executor: Pick<Executor, 'run'> =
    without === undefined
      ? new ReferenceInterpreter()
      : new WasmExecutor(memory, { vectorAfter: 0, without: new Set(without) });
  const result = executor.run({ module, kernel, shape, params }, { lo: 0, hi: 1 }, 'fast', 1e6);
  expect(result.status === 'fault' ? result.fault.message : result.status).toBe('done');
  return new Int32Array(Uint8Array.from(space.view(to, threads * 8)).buffer);
}

describe('warp operations of whole warps', () => {
  it.each(forms)('%s', (form) => {
    for (const threads of [32, 72]) {
      const expected = results(form, threads);
      expect(results(form, threads, [])).toEqual(expected);
      expect(results(form, threads, ['vector'])).toEqual(expected);
      expect(results(form, threads, ['warpOperations'])).toEqual(expected);
    }
  });
});
