import { describe, expect, it } from 'vitest';
import { parseModule } from '../ptx/index.js';
import { ReferenceInterpreter } from './interpreter/index.js';
import { loadModule, NodeMemory, WasmExecutor, type Executor, type RunResult } from './index.js';
import type { Optimisation } from './compiler/index.js';
import { packParams } from './tests/referenceLaunch.js';

interface Body {
  readonly text: string;
  readonly threads?: number;
  readonly fuel?: number;
}

/** Each leaves its result in %r9; %r0 is %tid.x, %r1 the warp, %r2 the lane, %r3 the block; s holds 1024 words. */
const bodies: Readonly<Record<string, Body>> = {
  'a tree in shared memory': {
    text: `st.shared.u32 [%r8], %r0; mov.u32 %r4, 64;
L: bar.sync 0; setp.ge.u32 %p1, %r0, %r4; @%p1 bra M; shl.b32 %r5, %r4, 2; add.s32 %r5, %r8, %r5; ld.shared.u32 %r6, [%r5]; ld.shared.u32 %r7, [%r8]; add.s32 %r6, %r6, %r7; st.shared.u32 [%r8], %r6;
M: shr.u32 %r4, %r4, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra L; bar.sync 0; ld.shared.u32 %r9, [s];`,
  },
  'warps that end before a barrier': {
    text: 'setp.eq.u32 %p1, %r1, 1; @%p1 exit; bar.sync 0; add.s32 %r9, %r0, 1; bar.sync 0; add.s32 %r9, %r9, 1;',
  },
  'lanes that return early': {
    text: 'setp.ge.u32 %p1, %r0, 70; @%p1 ret; bar.sync 0; mov.u32 %r9, %r0; bar.sync 0; add.s32 %r9, %r9, 5;',
  },
  'a last warp with few lanes': {
    text: 'st.shared.u32 [%r8], %r0; bar.sync 0; xor.b32 %r4, %r0, 1; shl.b32 %r4, %r4, 2; ld.shared.u32 %r9, [%r4];',
    threads: 102,
  },
  'warps at different instructions of one barrier': {
    text: 'setp.eq.u32 %p1, %r1, 2; @%p1 bra A; bar.sync 0; mov.u32 %r9, 4; bra B; A: bar.sync 0; mov.u32 %r9, 7; B: bar.sync 0; add.s32 %r9, %r9, %r0;',
  },
  'warps at different barriers': {
    text: 'setp.eq.u32 %p1, %r1, 2; @%p1 bra A; bar.sync 1; bra B; A: bar.sync 0; B: mov.u32 %r9, 1;',
  },
  'barriers that reduce': {
    text: 'setp.lt.u32 %p1, %r0, 37; bar.red.popc.u32 %r9, 0, %p1; bar.sync 0; setp.gt.u32 %p2, %r0, 500; bar.red.or.pred %p3, 0, %p2; @%p3 add.s32 %r9, %r9, 1000; bar.red.and.pred %p3, 0, !%p2; @%p3 add.s32 %r9, %r9, 2000;',
  },
  'a warp whose lanes part, in the middle of a phase': {
    text: `mov.u32 %r9, 0; mov.u32 %r10, 3;
L: setp.ne.u32 %p1, %r1, 1; @%p1 bra M; and.b32 %r4, %r2, 3; setp.eq.u32 %p2, %r4, 0; @%p2 bra N; bar.warp.sync 0xeeeeeeee; add.s32 %r9, %r9, 1; bra M; N: bar.warp.sync 0x11111111; add.s32 %r9, %r9, 2;
M: bar.sync 0; add.s32 %r10, %r10, -1; setp.ne.u32 %p3, %r10, 0; @%p3 bra L;`,
  },
  'warp operations between barriers': {
    text: `mov.u32 %r9, %r0; shfl.sync.bfly.b32 %r4, %r9, 16, 31, -1; add.s32 %r9, %r9, %r4; shfl.sync.down.b32 %r4, %r9, 3, 31, -1; add.s32 %r9, %r9, %r4; st.shared.u32 [%r8], %r9; bar.sync 0; xor.b32 %r4, %r0, 64; shl.b32 %r4, %r4, 2; ld.shared.u32 %r5, [%r4]; bar.sync 0; redux.sync.add.s32 %r9, %r5, -1;`,
  },
  'warps that come to different states, one after another': {
    text: `mov.u32 %r9, 0; mov.u32 %r4, 0;
L: setp.ge.u32 %p1, %r4, %r1; @%p1 bra M; shfl.sync.idx.b32 %r5, %r0, 7, 31, -1; add.s32 %r9, %r9, %r5; add.s32 %r4, %r4, 1; bra L;
M: bar.sync 0; add.s32 %r9, %r9, 1;`,
  },
  'a barrier that lanes skip': {
    text: 'setp.eq.u32 %p1, %r0, 40; @%p1 bra A; bar.sync 0; A: mov.u32 %r9, 1; bar.sync 0; bar.sync 0;',
  },
  'a lane that passes by a barrier and ends': {
    text: 'setp.eq.u32 %p1, %r0, 40; @%p1 bra A; bar.sync 0; A: mov.u32 %r9, 1; add.s32 %r9, %r9, 1;',
  },
  'a fault in one warp of a phase': {
    text: 'bar.sync 0; setp.eq.u32 %p1, %r0, 75; @%p1 ld.global.u32 %r9, [%rd9]; bar.sync 0;',
  },
  'a trap behind a barrier of one block': {
    text: 'bar.sync 0; setp.ne.u32 %p1, %r3, 2; @%p1 bra A; trap; A: mov.u32 %r9, 3;',
  },
  'fuel that ends between barriers': {
    text: 'mov.u32 %r9, 0; L: bar.sync 0; add.s32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 100000; @%p1 bra L;',
    fuel: 20_000,
  },
};

const kernelOf = (body: string): string => `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
.reg .pred %p<8>;
.reg .b32 %r<16>;
.reg .b64 %rd<16>;
.shared .align 4 .b8 s[4096];
ld.param.u64 %rd1, [out];
mov.u64 %rd9, 0;
mov.u32 %r0, %tid.x;
shr.u32 %r1, %r0, 5;
and.b32 %r2, %r0, 31;
mov.u32 %r3, %ctaid.x;
shl.b32 %r8, %r0, 2;
mov.u32 %r9, 0;
${body.replace(/; /g, ';\n')}
mov.u32 %r11, %ntid.x;
mad.lo.s32 %r12, %r3, %r11, %r0;
mul.wide.u32 %rd2, %r12, 4;
add.s64 %rd3, %rd1, %rd2;
st.global.u32 [%rd3], %r9;
ret;
}`;

const BLOCKS = 5;

interface Outcome {
  readonly fault: readonly unknown[] | undefined;
  readonly out: readonly number[];
  readonly counters: RunResult['counters'];
}

function run({ text, threads = 128, fuel = 1e6 }: Body, without?: readonly Optimisation[]): Outcome {
  const memory = new NodeMemory({ backingBytes: 8 * 2 ** 20 });
  const space = memory.createSpace();
  const bytes = threads * BLOCKS * 4;
  const to = space.map(bytes, 'readWrite').virtualAddress;
  const module = loadModule(parseModule(kernelOf(text), 'driver.ptx'), space);
  const [kernel] = module.ir.functions;
  if (kernel === undefined) throw new Error('no kernel');
  const shape = { grid: [BLOCKS, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0 } as const;
  const launch = { module, kernel, shape, params: packParams(kernel, [to]) };
  const executor: Pick<Executor, 'run'> =
    without === undefined
      ? new ReferenceInterpreter()
      : new WasmExecutor(memory, { vectorAfter: 0, without: new Set(without) });
  const result = executor.run(launch, { lo: 0, hi: BLOCKS }, 'fast', fuel);
  const fault = result.status === 'fault' ? result.fault : undefined;
  return {
    // Which of the lanes that go together used up the fuel is open.
    fault: fault && [
      fault.code,
      fault.block,
      ...(fault.code === 'fuelExhausted' ? [] : [fault.thread, fault.message]),
    ],
    out: [...new Int32Array(Uint8Array.from(space.view(to, bytes)).buffer)],
    counters: result.counters,
  };
}

describe('blocks from barrier to barrier', () => {
  it.each(Object.entries(bodies))('%s', (_, body) => {
    const reference = run(body);
    const plain = run(body, ['vector', 'blockDriver']);
    expect(plain.fault?.[0]).toEqual(reference.fault?.[0]);
    if (reference.fault === undefined) expect(plain.out).toEqual(reference.out);
    for (const without of [[], ['vector'], ['blockDriver'], ['masks'], ['warpOperations']] as const) {
      const { fault, out, counters } = run(body, without);
      expect(fault, without.join()).toEqual(plain.fault);
      // Where a block faults, how far its other threads have come is open.
      if (plain.fault !== undefined) continue;
      expect(out, without.join()).toEqual(plain.out);
      expect(counters, without.join()).toEqual(plain.counters);
    }
  });
});
