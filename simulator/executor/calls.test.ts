import { describe, expect, it } from 'vitest';
import { lowerCalls, parseModule } from '../ptx/index.js';
import {
  CompileError,
  loadModule,
  NodeMemory,
  ReferenceInterpreter,
  WasmExecutor,
  type KernelFault,
  type RunResult,
} from './index.js';
import { packParams } from './tests/referenceLaunch.js';

const HEAD = `.version 9.0
.target sm_90
.address_size 64
`;

const runners = ['fast', 'observed', 'resumable', 'interpreter'] as const;
type Runner = (typeof runners)[number];

const THREADS = 64;
const FUEL = 1e7;

interface Run {
  readonly result: RunResult;
  /** One word a thread. */
  readonly out: number[];
}

/** Runs kernels of one module in one context: `k(out, n)` with one block of 64 threads. */
class CallBench {
  private readonly memory = new NodeMemory({ backingBytes: 128 * 2 ** 20 });
  private readonly space = this.memory.createSpace();
  private readonly executor = new WasmExecutor(this.memory, { vectorAfter: 0 });
  private readonly module;

  constructor(source: string, isShared = false) {
    const ir = parseModule(HEAD + source, 'calls.ptx');
    this.module = loadModule(isShared ? lowerCalls(ir, { budget: 1, mostRegisters: 1 }) : ir, this.space);
  }

  run(runner: Runner, value = 0, name = 'k', threads = THREADS): Run {
    const kernel = this.module.ir.functions.find((fn) => fn.isEntry && fn.name === name);
    if (kernel === undefined) throw new Error(`no kernel ${name}`);
    const out = this.space.map(4 * THREADS, 'readWrite').virtualAddress;
    const launch = {
      module: this.module,
      kernel,
      shape: { grid: [1, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0 },
      params: packParams(kernel, [out, value]),
    } as const;
    const range = { lo: 0, hi: 1 };
    let result: RunResult;
    if (runner === 'interpreter') result = new ReferenceInterpreter().run(launch, range, 'fast', FUEL);
    else {
      const fuel = runner === 'resumable' ? 500 : FUEL;
      result = this.executor.run(launch, range, runner, fuel);
      let printed = result.printed;
      while (result.status === 'yield') {
        result = this.executor.resume(result.suspended, fuel);
        if (result.printed !== undefined) printed = (printed ?? '') + result.printed;
      }
      if (printed !== undefined) result = { ...result, printed };
    }
    return { result, out: [...new Int32Array(Uint8Array.from(this.space.view(out, 4 * THREADS)).buffer)] };
  }

  ints(runner: Runner, value = 0, name = 'k'): number[] {
    const { result, out } = this.run(runner, value, name);
    if (result.status !== 'done')
      throw new Error(result.status === 'fault' ? result.fault.message : 'yielded');
    return out;
  }

  fault(runner: Runner, value = 0, name = 'k'): KernelFault {
    const { result } = this.run(runner, value, name);
    if (result.status !== 'fault') throw new Error('no fault');
    return result.fault;
  }
}

/** An entry that stores %r9 of each thread; %r1 is the thread, %r2 the kernel's number. */
function kernel(body: string, name = 'k'): string {
  return `.visible .entry ${name}(.param .u64 ${name}_out, .param .u32 ${name}_n)
{
.reg .pred %p<8>;
.reg .b16 %rs<8>;
.reg .b32 %r<20>;
.reg .b64 %rd<20>;
ld.param.u64 %rd18, [${name}_out];
ld.param.u32 %r2, [${name}_n];
mov.u32 %r1, %tid.x;
mov.u32 %r9, 0;
${body}
mul.wide.u32 %rd19, %r1, 4;
add.s64 %rd19, %rd18, %rd19;
st.global.u32 [%rd19], %r9;
ret;
}
`;
}

const REGISTERS = '.reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<20>; .reg .b64 %rd<20>;';

const threads = (value: (thread: number) => number): number[] =>
  Array.from({ length: THREADS }, (_, thread) => value(thread) | 0);

function lineOf(text: string, part: string): number {
  return (HEAD + text).slice(0, (HEAD + text).indexOf(part)).split('\n').length;
}

/** Each function copied to where it is called, and where it can be, one body for all its calls. */
const layouts = [
  ...runners.map((runner) => ({ runner, layout: 'copied' })),
  { runner: 'fast', layout: 'shared' },
  { runner: 'interpreter', layout: 'shared' },
] as const;

describe.each(layouts)('calls ($runner, functions $layout)', ({ runner, layout }) => {
  const benchOf = (text: string): CallBench => new CallBench(text, layout === 'shared');
  const ints = (text: string, value = 0): number[] => benchOf(text).ints(runner, value);

  it('takes registers and numbers as arguments and returns', () => {
    const text = `.func (.param .b32 r) f(.param .b32 a, .param .b32 b) { ${REGISTERS}
ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b]; mad.lo.s32 %r3, %r1, 10, %r2; st.param.b32 [r], %r3; ret; }
${kernel('call (%r9), f, (%r1, 7);')}`;
    expect(ints(text)).toEqual(threads((i) => 10 * i + 7));
  });

  it('takes parameters in registers, as old PTX has them', () => {
    const text = `.func (.reg .b32 r) f(.reg .b32 a, .reg .b32 b) { sub.s32 r, a, b; ret; }
${kernel('call (%r9), f, (%r1, 3);')}`;
    expect(ints(text)).toEqual(threads((i) => i - 3));
  });

  it('calls under a guard, returns under a guard', () => {
    const text = `.func (.param .b32 r) f(.param .b32 a) { ${REGISTERS}
ld.param.b32 %r1, [a]; st.param.b32 [r], %r1; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;
@%p1 ret; add.s32 %r1, %r1, 100; st.param.b32 [r], %r1; ret; }
${kernel('setp.lt.u32 %p1, %r1, 40; @!%p1 call (%r9), f, (%r1);')}`;
    expect(ints(text)).toEqual(threads((i) => (i < 40 ? 0 : i % 2 === 0 ? i : i + 100)));
  });

  it('returns several values', () => {
    const text = `.func (.param .b32 q, .param .b64 w, .param .b32 r) f(.param .b32 a, .param .b32 b) { ${REGISTERS}
ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b]; div.u32 %r3, %r1, %r2; rem.u32 %r4, %r1, %r2;
mul.wide.u32 %rd1, %r1, %r2; st.param.b32 [q], %r3; st.param.b64 [w], %rd1; st.param.b32 [r], %r4; ret; }
${kernel(`call (%r3, %rd1, %r4), f, (%r1, 7); cvt.u32.u64 %r5, %rd1;
mad.lo.s32 %r9, %r3, 1000, %r4; mad.lo.s32 %r9, %r5, 100000, %r9;`)}`;
    expect(ints(text)).toEqual(threads((i) => Math.floor(i / 7) * 1000 + (i % 7) + 7 * i * 100000));
  });

  it('loads narrow parameters by their sign, from wider registers', () => {
    const text = `.func (.param .b32 r) f(.param .b8 a, .param .b16 b) { ${REGISTERS}
ld.param.s8 %r1, [a]; ld.param.u8 %r2, [a]; ld.param.s16 %r3, [b];
mad.lo.s32 %r4, %r2, 1000, %r1; mad.lo.s32 %r4, %r3, 1000000, %r4; st.param.b32 [r], %r4; ret; }
${kernel(`{ .param .b8 a; .param .b16 b; .param .b32 q;
add.s32 %r3, %r1, 220; st.param.b8 [a], %r3; neg.s32 %r4, %r1; st.param.b16 [b], %r4;
call (q), f, (a, b); ld.param.b32 %r9, [q]; }`)}`;
    expect(ints(text)).toEqual(
      threads((i) => {
        const byte = (i + 220) & 0xff;
        return byte * 1000 + ((byte << 24) >> 24) - i * 1000000;
      }),
    );
  });

  it('passes memory where pieces are read otherwise than they were written', () => {
    const text = `.func (.param .align 4 .b8 r[8]) f(.param .align 4 .b8 a[8]) { ${REGISTERS}
ld.param.v4.u8 {%rs1, %rs2, %rs3, %rs4}, [a]; ld.param.u16 %rs5, [a+4];
cvt.u32.u16 %r1, %rs2; cvt.u32.u16 %r2, %rs4; cvt.u32.u16 %r3, %rs5;
st.param.b32 [r+4], %r3; st.param.v2.b16 [r], {%rs1, %rs3}; ret; }
${kernel(`{ .param .align 4 .b8 a[8]; .param .align 4 .b8 q[8];
mad.lo.s32 %r3, %r1, 65793, 50331648; st.param.b32 [a], %r3; st.param.b32 [a+4], %r1;
call (q), f, (a); ld.param.b64 %rd1, [q]; cvt.u32.u64 %r4, %rd1; shr.u64 %rd2, %rd1, 32; cvt.u32.u64 %r5, %rd2;
mad.lo.s32 %r9, %r5, 16777216, %r4; }`)}`;
    // Bytes 0, 1 and 2 of the word are all the thread's number.
    expect(ints(text)).toEqual(threads((i) => i | (i << 16) | (i << 24)));
  });

  it('lets a function take the address of its parameters and of its returns', () => {
    const text = `.func (.param .align 8 .b8 r[16]) f(.param .align 8 .b8 a[32], .param .b32 k) { ${REGISTERS}
mov.b64 %rd1, a; ld.param.b32 %r1, [k]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
ld.param.b32 %r2, [%rd1]; cvta.param.u64 %rd3, a; ld.b32 %r3, [%rd3+28];
mov.b64 %rd4, r; st.param.b32 [%rd4+4], %r2; st.param.b32 [r+12], %r3; ret; }
${kernel(`{ .param .align 8 .b8 a[32]; .param .b32 k; .param .align 8 .b8 q[16];
${Array.from({ length: 8 }, (_, k) => `add.s32 %r3, %r1, ${k * k}; st.param.b32 [a+${4 * k}], %r3;`).join('\n')}
and.b32 %r4, %r1, 7; st.param.b32 [k], %r4; call (q), f, (a, k);
ld.param.b32 %r5, [q+4]; ld.param.b32 %r6, [q+12]; mad.lo.s32 %r9, %r6, 1000, %r5; }`)}`;
    expect(ints(text)).toEqual(threads((i) => (i + 49) * 1000 + i + (i % 8) ** 2));
  });

  it('gives an argument variable back as the return', () => {
    const text = `.func (.param .b32 r) f(.param .b32 a) { ${REGISTERS}
st.param.b32 [r], 1; ld.param.b32 %r1, [a]; shl.b32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; }
${kernel('{ .param .b32 v; st.param.b32 [v], %r1; call (v), f, (v); call (v), f, (v); ld.param.b32 %r9, [v]; }')}`;
    expect(ints(text)).toEqual(threads((i) => 4 * i));
  });

  it('keeps predicates, halves and 64-bit values of an activation over its calls', () => {
    const text = `.func (.param .b64 r) f(.param .b32 n) { ${REGISTERS} .reg .f32 %f<4>; .reg .f64 %fd<4>;
ld.param.b32 %r1, [n]; setp.eq.s32 %p1, %r1, 0; mov.b64 %rd1, 1; @%p1 bra out;
and.b32 %r2, %r1, 1; setp.eq.s32 %p2, %r2, 1; setp.gt.s32 %p3, %r1, 3; cvt.u16.u32 %rs1, %r1; cvt.rn.f32.s32 %f1, %r1;
cvt.rn.f64.s32 %fd1, %r1; mul.wide.s32 %rd2, %r1, 1000; sub.s32 %r3, %r1, 1;
{ .param .b32 m; .param .b64 q; st.param.b32 [m], %r3; call (q), f, (m); ld.param.b64 %rd1, [q]; }
@%p2 add.s64 %rd1, %rd1, %rd2; @!%p3 add.s64 %rd1, %rd1, 5; cvt.u64.u16 %rd3, %rs1; add.s64 %rd1, %rd1, %rd3;
cvt.rzi.s64.f32 %rd4, %f1; add.s64 %rd1, %rd1, %rd4; cvt.rzi.s64.f64 %rd5, %fd1; add.s64 %rd1, %rd1, %rd5;
out: st.param.b64 [r], %rd1; ret; }
${kernel('and.b32 %r3, %r1, 15; call (%rd1), f, (%r3); cvt.u32.u64 %r9, %rd1;')}`;
    const f = (n: number): number =>
      n === 0 ? 1 : f(n - 1) + (n % 2 === 1 ? 1000 * n : 0) + (n > 3 ? 0 : 5) + 3 * n;
    expect(ints(text)).toEqual(threads((i) => f(i % 16)));
  });

  it('shuffles inside a recursive function', () => {
    const text = `.func (.param .b32 r) f(.param .b32 v, .param .b32 n) { ${REGISTERS}
ld.param.b32 %r1, [v]; ld.param.b32 %r2, [n]; setp.eq.s32 %p1, %r2, 0; @%p1 bra out; sub.s32 %r3, %r2, 1;
shl.b32 %r4, 1, %r3; shfl.sync.bfly.b32 %r5, %r1, %r4, 31, -1; add.s32 %r6, %r1, %r5;
call (%r7), f, (%r6, %r3); add.s32 %r1, %r7, %r1;
out: st.param.b32 [r], %r1; ret; }
${kernel('call (%r9), f, (%r1, 5);')}`;
    const warp = (base: number): number[] => {
      let values = Array.from({ length: 32 }, (_, lane) => base + lane);
      const sums = [...values];
      for (let step = 4; step >= 0; step--) {
        values = values.map((value, lane) => value + (values[lane ^ (1 << step)] ?? 0));
        values.forEach((value, lane) => (sums[lane] = (sums[lane] ?? 0) + value));
      }
      return sums;
    };
    expect(ints(text)).toEqual([...warp(0), ...warp(32)]);
  });

  it('meets at barriers inside functions, also recursive ones', () => {
    const text = `.shared .align 4 .b32 cell[64];
.func (.param .b32 r) f(.param .b32 v, .param .b32 n) { ${REGISTERS}
ld.param.b32 %r1, [v]; ld.param.b32 %r2, [n]; setp.eq.s32 %p1, %r2, 0; @%p1 bra out;
mov.u32 %r3, %tid.x; mov.u32 %r4, cell; mad.lo.s32 %r5, %r3, 4, %r4; st.shared.b32 [%r5], %r1; bar.sync 0;
add.s32 %r6, %r3, 1; and.b32 %r6, %r6, 63; mad.lo.s32 %r7, %r6, 4, %r4; ld.shared.b32 %r8, [%r7]; bar.sync 0;
sub.s32 %r9, %r2, 1; call (%r1), f, (%r8, %r9);
out: st.param.b32 [r], %r1; ret; }
${kernel('call (%r9), f, (%r1, 6);')}`;
    expect(ints(text)).toEqual(threads((i) => (i + 6) % 64));
  });

  describe('through pointers', () => {
    const functions = `${['a', 'b', 'c', 'd', 'e']
      .map(
        (name, index) => `.func (.param .b32 r) ${name}(.param .b32 v) { ${REGISTERS}
ld.param.b32 %r1, [v]; add.s32 %r1, %r1, ${1000 * (index + 1)}; st.param.b32 [r], %r1; ret; }`,
      )
      .join('\n')}
.func wide(.param .b64 v) { ret; }
.global .align 8 .u64 table[5] = {a, b, c, d, e};
.global .align 8 .u64 strange[1] = {wide};
`;
    const call = (pointer: string, prefix = ''): string => `{ .param .b32 v; .param .b32 q; ${pointer}
${prefix} proto: .callprototype (.param .b32 _) _ (.param .b32 _); st.param.b32 [v], %r1;
call (q), %rd1, (v), proto; ld.param.b32 %r9, [q]; }`;
    const load =
      'rem.u32 %r3, %r1, 5; mul.wide.u32 %rd2, %r3, 8; mov.u64 %rd3, table; add.s64 %rd3, %rd3, %rd2; ld.global.u64 %rd1, [%rd3];';

    it('calls what a table holds', () => {
      expect(ints(functions + kernel(call(load)))).toEqual(threads((i) => i + 1000 * ((i % 5) + 1)));
    });

    it('calls one of few, by a pointer that was taken', () => {
      const text = functions.replace('{a, b, c, d, e}', '{b, b, b, b, b}');
      expect(ints(text + kernel(call('mov.u64 %rd1, c;')))).toEqual(threads((i) => i + 3000));
    });

    it('calls one of the listed targets', () => {
      const body = `mov.u64 %rd1, d; { .param .b32 v; .param .b32 q; targets: .calltargets c, d;
st.param.b32 [v], %r1; call (q), %rd1, (v), targets; ld.param.b32 %r9, [q]; }`;
      expect(ints(functions + kernel(body))).toEqual(threads((i) => i + 4000));
    });

    it.each([
      ['null', 'mov.u64 %rd1, 0;'],
      ['an address between two functions', `${load} add.s64 %rd1, %rd1, 64;`],
      ['an address of data', 'mov.u64 %rd1, table;'],
      ['a function of another prototype', 'ld.global.u64 %rd1, [strange];'],
    ])('faults for %s', (_, pointer) => {
      const text = functions + kernel(call(pointer));
      const fault = benchOf(text).fault(runner);
      expect(fault).toMatchObject({ code: 'illegalInstruction', thread: [0, 0, 0] });
      expect(fault.ptxLine).toBe(lineOf(text, 'call (q), %rd1'));
    });

    it('faults only when a function that cannot run is called', () => {
      const text = `.extern .func (.param .b32 r) elsewhere(.param .b32 v);
.func (.param .b32 r) broken(.param .b32 v) { ${REGISTERS} call (%r1), elsewhere, (3); st.param.b32 [r], %r1; ret; }
${functions.replace('c, d, e}', 'broken, d, e}')}${kernel(call(load))}
${kernel(call(`${load} setp.eq.s32 %p1, %r3, 2; @%p1 mov.u64 %rd1, e;`), 'careful')}`;
      const bench = benchOf(text);
      expect(bench.fault(runner)).toMatchObject({ code: 'unsupportedInstruction', thread: [2, 0, 0] });
      expect(bench.ints(runner, 0, 'careful')).toEqual(
        threads((i) => i + 1000 * (i % 5 === 2 ? 5 : (i % 5) + 1)),
      );
    });
  });

  it('bounds the stack and tells where it overflows; other kernels go on', () => {
    const text = `.func (.param .b32 r) f(.param .b32 n) { ${REGISTERS}
ld.param.b32 %r1, [n]; setp.eq.s32 %p1, %r1, 0; @%p1 bra out; sub.s32 %r2, %r1, 1;
{ .param .b32 m; .param .b32 q; st.param.b32 [m], %r2;
call (q), f, (m); ld.param.b32 %r3, [q]; }
add.s32 %r1, %r1, %r3;
out: st.param.b32 [r], %r1; ret; }
${kernel('setp.eq.s32 %p1, %r1, 37; mov.u32 %r3, 300; @%p1 mov.u32 %r3, %r2; call (%r9), f, (%r3);')}`;
    const bench = benchOf(text);
    const fault = bench.fault(runner, 1_000_000);
    expect(fault).toMatchObject({ code: 'stackOverflow', thread: [37, 0, 0] });
    expect(fault.ptxLine).toBe(lineOf(text, 'call (q), f, (m)'));
    expect(bench.ints(runner, 500)).toEqual(threads((i) => (i === 37 ? 125250 : 45150)));
  });

  it('ends threads inside functions', () => {
    const text = `.func f(.param .b32 n) { ${REGISTERS}
ld.param.b32 %r1, [n]; and.b32 %r2, %r1, 3; setp.eq.s32 %p1, %r2, 1; @%p1 exit; ret; }
${kernel('call f, (%r1); bar.sync 0; mov.u32 %r9, 5;')}`;
    expect(ints(text)).toEqual(threads((i) => (i % 4 === 1 ? 0 : 5)));
  });

  it('tells the line of a fault inside a function', () => {
    const text = `.func f(.param .b64 p) { ${REGISTERS}
ld.param.b64 %rd1, [p];
st.global.b32 [%rd1], 1;
ret; }
${kernel('setp.eq.s32 %p1, %r1, 33; @%p1 call f, (64);')}`;
    const fault = benchOf(text).fault(runner);
    expect(fault).toMatchObject({ code: 'illegalAddress', address: 64, thread: [33, 0, 0], kernel: 'k' });
    expect(fault.ptxLine).toBe(lineOf(text, 'st.global.b32 [%rd1], 1;'));
  });
});

describe('what cannot be called', () => {
  const text = `.extern .func (.param .b32 r) cudaGetDeviceCount(.param .b64 p);
.func (.param .b32 r) inner(.param .b32 n) { ${REGISTERS}
call (%r1), cudaGetDeviceCount, (%rd1); st.param.b32 [r], %r1; ret; }
${kernel('call (%r9), inner, (%r1);')}
${kernel('add.s32 %r9, %r1, 1;', 'other')}
${kernel('call other, ();', 'nested')}`;

  it('refuses the kernels that reach it, by name and line, and runs the others', () => {
    const bench = new CallBench(text);
    expect(() => bench.run('fast')).toThrow(CompileError);
    expect(() => bench.run('fast')).toThrow(
      new RegExp(`line ${lineOf(text, 'call (%r1), cudaGet')}: call: cudaGetDeviceCount is not defined`),
    );
    expect(bench.fault('interpreter').message).toMatch(/cudaGetDeviceCount is not defined.*inner/);
    expect(() => bench.run('fast', 0, 'nested')).toThrow(/other is no function/);
    expect(bench.ints('fast', 0, 'other')).toEqual(threads((i) => i + 1));
  });
});
