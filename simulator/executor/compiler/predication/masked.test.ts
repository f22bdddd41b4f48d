import { describe, expect, it } from 'vitest';
import { parseModule } from '../../../ptx/index.js';
import {
  loadModule,
  NodeMemory,
  WasmExecutor,
  type Dim3,
  type Executor,
  type RunResult,
} from '../../index.js';
import { ReferenceInterpreter } from '../../interpreter/index.js';
import type { Optimisation } from '../plan/index.js';

/** Each leaves its result in %r6. %r5 is one of −3 to 3 from memory, %r2 is %tid.x, %r31 is 5, %rd4 points at %r5. */
const bodies: Readonly<Record<string, string>> = {
  'a branch that skips': 'mov.u32 %r6, 7; setp.lt.s32 %p1, %r5, 0; @%p1 bra L; add.s32 %r6, %r5, 100; L:',
  'two ways':
    'setp.lt.s32 %p1, %r5, 0; @%p1 bra A; add.s32 %r6, %r5, 100; bra B; A: mov.u32 %r6, %r2; B: add.s32 %r6, %r6, 1;',
  'a register that one way overwrites and the other needs':
    'mov.u32 %r8, 3; setp.lt.s32 %p1, %r5, 0; @%p1 bra A; mov.u32 %r8, 9; add.s32 %r6, %r8, %r5; bra B; A: add.s32 %r6, %r8, %r2; B:',
  'a loop that lanes leave':
    'mov.u32 %r6, 0; mov.u32 %r7, 0; Q: add.s32 %r6, %r6, %r5; add.s32 %r7, %r7, 1; mul.lo.s32 %r8, %r6, %r6; setp.lt.s32 %p1, %r7, 9; setp.lt.s32 %p2, %r8, 100; and.pred %p3, %p1, %p2; @%p3 bra Q; mad.lo.s32 %r6, %r6, 1000, %r7;',
  'a loop that is left to the branch, not past it':
    'mov.u32 %r6, 0; mov.u32 %r7, 0; Q: add.s32 %r6, %r6, %r5; add.s32 %r7, %r7, 1; mul.lo.s32 %r8, %r6, %r6; add.s32 %r8, %r8, %r7; setp.ge.s32 %p2, %r8, 50; @%p2 bra X; bra Q; X: mad.lo.s32 %r6, %r6, 1000, %r7;',
  'a branch in a loop':
    'mov.u32 %r6, 0; mov.u32 %r7, 0; Q: add.s32 %r5, %r5, 1; and.b32 %r9, %r5, 1; setp.eq.u32 %p4, %r9, 0; @%p4 bra E; add.s32 %r6, %r6, %r5; bra F; E: sub.s32 %r6, %r6, 3; F: add.s32 %r7, %r7, 1; mul.lo.s32 %r8, %r6, %r6; setp.lt.s32 %p1, %r7, 9; setp.lt.s32 %p2, %r8, 100; and.pred %p3, %p1, %p2; @%p3 bra Q; mad.lo.s32 %r6, %r6, 1000, %r7;',
  'loops in a loop with a way out':
    'mov.u32 %r6, 0; mov.u32 %r7, 0; Q: mov.u32 %r10, 0; add.s32 %r11, %r5, 5; R: add.s32 %r10, %r10, 1; add.s32 %r6, %r6, %r10; setp.lt.s32 %p5, %r10, %r11; @%p5 bra R; add.s32 %r5, %r5, 1; add.s32 %r7, %r7, 1; setp.gt.s32 %p6, %r6, 60; @%p6 bra X; setp.lt.s32 %p1, %r7, 6; @%p1 bra Q; add.s32 %r6, %r6, 7; X: mad.lo.s32 %r6, %r6, 1000, %r7;',
  'a zone in a loop that all lanes go round':
    'mov.u32 %r6, 0; mov.u32 %r7, 0; Q: setp.lt.s32 %p4, %r5, 0; @%p4 bra E; add.s32 %r6, %r6, %r5; add.s32 %r12, %r6, %r7; ld.global.u32 %r13, [%rd4+128]; add.s32 %r6, %r12, %r13; E: add.s32 %r5, %r5, 1; add.s32 %r7, %r7, 1; setp.lt.s32 %p1, %r7, %r31; @%p1 bra Q;',
  'addresses that each lane has for itself, and guards':
    'mov.u32 %r6, 0; setp.lt.s32 %p1, %r5, 0; @%p1 bra A; mul.wide.s32 %rd9, %r5, 4; add.s64 %rd9, %rd1, %rd9; ld.global.u32 %r8, [%rd9]; setp.gt.s32 %p2, %r8, 0; @%p2 add.s32 %r6, %r8, %r5; @!%p2 st.global.u32 [%rd4+1024], %r2; A: ld.global.u32 %r9, [%rd4+1024]; add.s32 %r6, %r6, %r9;',
  'an edge of the grid':
    'setp.lt.s32 %p1, %r2, 1; setp.ge.s32 %p2, %r2, 70; or.pred %p3, %p1, %p2; mov.u32 %r6, %r5; @%p3 bra E; sub.s32 %r9, %r2, 1; mul.wide.s32 %rd9, %r9, 4; add.s64 %rd9, %rd1, %rd9; ld.global.u32 %r7, [%rd9]; ld.global.u32 %r8, [%rd4+4]; add.s32 %r6, %r7, %r8; E: add.s32 %r6, %r6, 1;',
  'an edge with a place that all lanes have, and one in it':
    'mov.u32 %r8, 3; setp.gt.s32 %p1, %r2, 65; @%p1 bra E; mov.u32 %r8, 5; setp.lt.s32 %p2, %r2, 3; @%p2 bra F; add.s32 %r8, %r8, %r2; F: add.s32 %r8, %r8, 1; E: mad.lo.s32 %r6, %r8, 10, %r2;',
  'a loop on scalars, behind which all go on where some had not come before':
    'mov.u32 %r6, 9; setp.gt.s32 %p1, %r2, 30; setp.ge.s32 %p2, %r5, 0; or.pred %p3, %p1, %p2; @!%p3 bra E; mov.u32 %r7, 0; mov.u32 %r10, 0; mov.u64 %rd9, %rd4; Q: ld.global.u32 %r8, [%rd9]; add.s32 %r10, %r10, %r8; add.s64 %rd9, %rd9, 64; add.s32 %r7, %r7, 1; setp.lt.s32 %p4, %r7, %r31; @%p4 bra Q; mad.lo.s32 %r6, %r10, 10, %r2; E: add.s32 %r6, %r6, 1;',
  'two loops on scalars, the second with what the first left':
    'mov.u32 %r6, 9; setp.lt.s32 %p1, %r5, 0; setp.lt.s32 %p2, %r2, 20; and.pred %p1, %p1, %p2; @%p1 bra E; mov.u32 %r7, 0; mov.u32 %r10, 0; mov.u64 %rd9, %rd4; Q: ld.global.u32 %r8, [%rd9]; add.s32 %r10, %r10, %r8; add.s64 %rd9, %rd9, 64; add.s32 %r7, %r7, 1; setp.lt.s32 %p4, %r7, %r31; @%p4 bra Q; R: ld.global.u32 %r8, [%rd9]; sub.s32 %r10, %r10, %r8; add.s64 %rd9, %rd9, 32; sub.s32 %r7, %r7, 1; setp.gt.s32 %p5, %r7, 0; @%p5 bra R; mad.lo.s32 %r6, %r10, 10, %r2; E: add.s32 %r6, %r6, 1;',
  'a loop on scalars in one that lanes leave':
    'mov.u32 %r6, 9; setp.lt.s32 %p1, %r5, 0; setp.lt.s32 %p2, %r2, 20; and.pred %p1, %p1, %p2; @%p1 bra E; mov.u32 %r10, 0; add.s32 %r11, %r5, 4; P: mov.u32 %r7, 0; mov.u64 %rd9, %rd4; Q: ld.global.u32 %r8, [%rd9]; add.s32 %r10, %r10, %r8; add.s64 %rd9, %rd9, 64; add.s32 %r7, %r7, 1; setp.lt.s32 %p4, %r7, %r31; @%p4 bra Q; sub.s32 %r11, %r11, 1; setp.gt.s32 %p5, %r11, 0; @%p5 bra P; mad.lo.s32 %r6, %r10, 10, %r2; E: add.s32 %r6, %r6, 1;',
  'a loop on scalars over four words of each lane':
    'mov.u32 %r6, 9; setp.lt.s32 %p1, %r5, 0; setp.lt.s32 %p2, %r2, 20; and.pred %p1, %p1, %p2; @%p1 bra E; mov.u32 %r7, 0; mov.u32 %r10, 0; mul.wide.u32 %rd9, %r2, 16; add.s64 %rd9, %rd9, %rd1; Q: ld.global.v4.u32 {%r8, %r12, %r13, %r14}, [%rd9]; mad.lo.s32 %r10, %r8, 3, %r10; mad.lo.s32 %r10, %r12, %r13, %r10; sub.s32 %r10, %r10, %r14; add.s64 %rd9, %rd9, 16; add.s32 %r7, %r7, 1; setp.lt.s32 %p4, %r7, %r31; @%p4 bra Q; mad.lo.s32 %r6, %r10, 10, %r2; E: add.s32 %r6, %r6, 1;',
  'lanes that part behind a zone, and go round a loop with it':
    'mov.u32 %r6, 0; mov.u32 %r7, 0; Q: setp.lt.s32 %p4, %r5, 0; @%p4 bra E; add.s32 %r6, %r6, %r5; E: add.s32 %r5, %r5, 1; add.s32 %r7, %r7, 3; setp.le.s32 %p1, %r7, %r2; @%p1 bra Q;',
};

const kernelOf = (body: string): string => `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {
.reg .pred %p<8>;
.reg .b32 %r<40>;
.reg .b64 %rd<16>;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
ld.param.u32 %r31, [n];
mov.u32 %r2, %tid.x;
mov.u32 %r30, %tid.y;
mad.lo.u32 %r2, %r30, 8, %r2;
mul.wide.s32 %rd3, %r2, 4;
add.s64 %rd4, %rd1, %rd3;
add.s64 %rd5, %rd2, %rd3;
ld.global.u32 %r5, [%rd4];
${body.replace(/; /g, ';\n')}
st.global.u32 [%rd5], %r6;
ret;
}`;

const THREADS = 72;
const ROW: Dim3 = [THREADS, 1, 1];
/** Chunks of these are narrower than a warp. */
const NARROW_ROWS: Dim3 = [8, THREADS / 8, 1];

function run(
  body: string,
  without?: readonly Optimisation[],
  fuel = 1e6,
  block = ROW,
): { result: RunResult; out: number[] } {
  const memory = new NodeMemory({ backingBytes: 8 * 2 ** 20 });
  const space = memory.createSpace();
  const input = Int32Array.from({ length: 512 }, (_, index) => ((Math.imul(index, 40503) >>> 5) % 7) - 3);
  const from = space.map(input.byteLength, 'readWrite').virtualAddress;
  space.view(from, input.byteLength).set(new Uint8Array(input.buffer));
  const to = space.map(THREADS * 4, 'readWrite').virtualAddress;
  const module = loadModule(parseModule(kernelOf(body), 'masked.ptx'), space);
  const [kernel] = module.ir.functions;
  if (kernel === undefined) throw new Error('no kernel');
  const params = new Uint8Array(kernel.parameterBytes);
  new BigInt64Array(params.buffer, 0, 2).set([BigInt(from), BigInt(to)]);
  params[16] = 5;
  const shape = { grid: [1, 1, 1], block, dynamicSharedBytes: 0 } as const;
  const executor: Pick<Executor, 'run'> =
    without === undefined
      ? new ReferenceInterpreter()
      : new WasmExecutor(memory, { vectorAfter: 0, without: new Set(without) });
  const result = executor.run({ module, kernel, shape, params }, { lo: 0, hi: 1 }, 'fast', fuel);
  return { result, out: [...new Int32Array(Uint8Array.from(space.view(to, THREADS * 4)).buffer)] };
}

describe('lanes that part go on under masks', () => {
  const cases = Object.entries(bodies).flatMap(([name, body]) => [
    { name, body, block: ROW },
    { name: `${name}, in narrow rows`, body, block: NARROW_ROWS },
  ]);
  it.each(cases)('$name', ({ body, block }) => {
    const expected = run(body, undefined, undefined, block);
    expect(expected.result.status).toBe('done');
    const scalar = run(body, ['vector'], undefined, block);
    expect(scalar.out).toEqual(expected.out);
    for (const without of [[], ['masks'], ['wide'], ['affine'], ['uniform'], ['steadyLoops']] as const) {
      const { result, out } = run(body, without, undefined, block);
      expect(out).toEqual(expected.out);
      expect(result.counters).toEqual(scalar.result.counters);
    }
  });

  it('spends fuel for each lane that goes round', () => {
    const endless = 'mov.u32 %r6, 0; Q: add.s32 %r6, %r6, %r5; setp.ne.s32 %p1, %r6, 1; @%p1 bra Q;';
    const { result } = run(endless, [], 10_000);
    expect(result.status === 'fault' ? result.fault.code : result.status).toBe('fuelExhausted');
    expect(result.counters.threadInstructions).toBeLessThan(20_000);
  });
});
