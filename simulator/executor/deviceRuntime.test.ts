import { describe, expect, it } from 'vitest';
import { parseModule } from '../ptx/index.js';
import {
  loadModule,
  NodeMemory,
  ReferenceInterpreter,
  WasmExecutor,
  type Dim3,
  type KernelFault,
  type RunResult,
} from './index.js';
import { packParams } from './tests/referenceLaunch.js';

const HEAD = `.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
`;

const runners = ['fast', 'observed', 'resumable', 'interpreter'] as const;
type Runner = (typeof runners)[number];

/** One context in which kernels `name(p)` run one after another. */
class RuntimeBench {
  private readonly memory = new NodeMemory({ backingBytes: 64 * 2 ** 20 });
  readonly space = this.memory.createSpace();
  private readonly executor = new WasmExecutor(this.memory, { vectorAfter: 0 });
  private readonly module;

  constructor(text: string) {
    this.module = loadModule(parseModule(HEAD + text, 'runtime.ptx'), this.space);
  }

  run(runner: Runner, name: string, value = 0, block: Dim3 = [32, 1, 1], grid: Dim3 = [1, 1, 1]): RunResult {
    const kernel = this.module.ir.functions.find((fn) => fn.isEntry && fn.name === name);
    if (kernel === undefined) throw new Error(`no kernel ${name}`);
    const launch = {
      module: this.module,
      kernel,
      shape: { grid, block, dynamicSharedBytes: 0 },
      params: packParams(kernel, [value]),
    };
    const range = { lo: 0, hi: grid[0] * grid[1] * grid[2] };
    return runner === 'interpreter'
      ? new ReferenceInterpreter().run(launch, range, 'fast', 1e7)
      : this.executor.run(launch, range, runner, 1e7);
  }

  printed(runner: Runner, name: string, block?: Dim3, grid?: Dim3): string {
    const result = this.run(runner, name, 0, block, grid);
    if (result.status === 'fault') throw new Error(result.fault.message);
    return result.printed ?? '';
  }

  fault(runner: Runner, name: string, value = 0): KernelFault {
    const result = this.run(runner, name, value);
    if (result.status !== 'fault') throw new Error('no fault');
    return result.fault;
  }
}

function textVariable(name: string, text: string): string {
  const bytes = [...new TextEncoder().encode(text), 0];
  return `.global .align 1 .b8 ${name}[${bytes.length}] = {${bytes.join(', ')}};\n`;
}

function kernel(name: string, body: string): string {
  return `.visible .entry ${name}(.param .u64 ${name}_p)
{
.local .align 8 .b8 args[16];
.reg .pred %p<8>;
.reg .b32 %r<20>;
.reg .b64 %rd<20>;
ld.param.u64 %rd1, [${name}_p];
mov.u32 %r1, %tid.x;
mov.u32 %r8, %ctaid.x;
mov.u64 %rd2, args;
cvta.local.u64 %rd2, %rd2;
${body}
ret;
}
`;
}

/** Prints a format with two ints; the result goes to %r9. */
function print(format: string, a: string, b: string): string {
  return `mov.u64 %rd3, ${format}; cvta.global.u64 %rd3, %rd3; st.local.b32 [args], ${a}; st.local.b32 [args+4], ${b};
call (%r9), vprintf, (%rd3, %rd2);
`;
}

const lanes = (count: number): number[] => Array.from({ length: count }, (_, lane) => lane);

describe.each(runners)('printf (%s)', (runner) => {
  it('writes what the lanes of a warp print in their order, one call after another', () => {
    const bench = new RuntimeBench(
      textVariable('first', 'a%d ') +
        textVariable('second', 'b%d/%d\n') +
        kernel('k', print('first', '%r1', '0') + print('second', '%r1', '%r9')),
    );
    const warp = (base: number): string =>
      `${lanes(32)
        .map((lane) => `a${base + lane} `)
        .join('')}${lanes(32)
        .map((lane) => `b${base + lane}/1\n`)
        .join('')}`;
    expect(bench.printed(runner, 'k', [64, 1, 1])).toBe(warp(0) + warp(32));
  });

  it('writes what warps print around their own operations warp after warp', () => {
    const bench = new RuntimeBench(
      textVariable('first', 'a%d ') +
        textVariable('second', 'b%d/%d\n') +
        kernel(
          'k',
          `${print('first', '%r1', '0')} shfl.sync.bfly.b32 %r10, %r1, 1, 31, 0xffffffff;
${print('second', '%r10', '%r9')} bar.warp.sync 0xffffffff; ${print('first', '%r10', '0')} bar.warp.sync 0xffffffff; ${print('second', '%r1', '7')}`,
        ),
    );
    const warp = (base: number, first: number, second: number): string =>
      lanes(32)
        .map((lane) => `a${base + (lane ^ first)} `)
        .join('') +
      lanes(32)
        .map((lane) => `b${base + (lane ^ second)}/${second === 1 ? 1 : 7}\n`)
        .join('');
    expect(bench.printed(runner, 'k', [64, 1, 1])).toBe(
      warp(0, 0, 1) + warp(0, 1, 0) + warp(32, 0, 1) + warp(32, 1, 0),
    );
  });

  it('writes blocks one after another, from divergent lanes and from loops', () => {
    const bench = new RuntimeBench(
      textVariable('odd', 'odd %d of %d\n') +
        textVariable('round', '%d.%d\n') +
        kernel(
          'k',
          `and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra even;
${print('odd', '%r1', '%r8')} bra done;
even: mov.u32 %r3, 0;
again: ${print('round', '%r1', '%r3')} add.s32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r1; @%p2 bra again;
done:`,
        ),
    );
    const block = (index: number): string[] => [
      `odd 1 of ${index}`,
      `odd 3 of ${index}`,
      '0.0',
      '2.0',
      '2.1',
    ];
    const text = bench.printed(runner, 'k', [4, 1, 1], [2, 1, 1]);
    const got = text.trimEnd().split('\n');
    expect(got.slice(0, 5).sort()).toEqual(block(0).sort());
    expect(got.slice(5).sort()).toEqual(block(1).sort());
  });

  it('is nothing when nothing was printed', () => {
    expect(new RuntimeBench(kernel('k', '')).run(runner, 'k').printed).toBeUndefined();
  });

  it.each([
    ['a format outside memory', 'mov.u64 %rd3, 64;', 'illegalAddress'],
    [
      'arguments outside local memory',
      'mov.u64 %rd3, text; cvta.global.u64 %rd3, %rd3; add.s64 %rd2, %rd2, 64;',
      'localOutOfBounds',
    ],
    [
      'arguments out of line',
      'mov.u64 %rd3, text; cvta.global.u64 %rd3, %rd3; add.s64 %rd2, %rd2, 2;',
      'misalignedAddress',
    ],
  ])('faults for %s', (_, body, code) => {
    const text =
      textVariable('text', '%d') +
      kernel('k', `${body}\nsetp.eq.u32 %p1, %r1, 7;\n@%p1 call (%r9), vprintf, (%rd3, %rd2);`);
    const fault = new RuntimeBench(text).fault(runner, 'k');
    expect(fault).toMatchObject({ code, thread: [7, 0, 0] });
    expect(fault.ptxLine).toBe((HEAD + text).split('\n').findIndex((line) => line.includes('@%p1 call')) + 1);
  });
});

describe.each(runners)('assertions (%s)', (runner) => {
  it('tell block, thread, condition and place, and end the kernel', () => {
    const bench = new RuntimeBench(
      textVariable('message', 'x < 30') +
        textVariable('file', 'k.cu') +
        textVariable('fn', 'void k(int)') +
        kernel(
          'k',
          `setp.lt.u32 %p1, %r1, 30; @%p1 bra fine;
mov.u64 %rd3, message; cvta.global.u64 %rd3, %rd3; mov.u64 %rd4, file; cvta.global.u64 %rd4, %rd4;
mov.u64 %rd5, fn; cvta.global.u64 %rd5, %rd5;
call __assertfail, (%rd3, %rd4, 12, %rd5, 1);
fine:`,
        ),
    );
    const result = bench.run(runner, 'k', 0, [32, 1, 1], [3, 1, 1]);
    expect(result.status === 'fault' && result.fault).toMatchObject({
      code: 'assertion',
      block: [0, 0, 0],
      thread: [30, 0, 0],
    });
    expect(result.printed).toBe(
      [30, 31]
        .map((x) => `k.cu:12: void k(int): block: [0,0,0], thread: [${x},0,0] Assertion \`x < 30\` failed.\n`)
        .join(''),
    );
  });
});

describe.each(runners)('the device heap (%s)', (runner) => {
  const text =
    kernel(
      'allocate',
      `call (%rd3), malloc, (24); mul.wide.u32 %rd4, %r1, 8; add.s64 %rd4, %rd1, %rd4; st.global.b64 [%rd4], %rd3;
cvt.u64.u32 %rd5, %r1; st.b64 [%rd3+16], %rd5;`,
    ) +
    kernel(
      'sum',
      'mul.wide.u32 %rd4, %r1, 8; add.s64 %rd4, %rd1, %rd4; ld.global.b64 %rd3, [%rd4]; ld.b64 %rd5, [%rd3+16]; add.s64 %rd5, %rd5, 100; st.global.b64 [%rd4], %rd5; call free, (%rd3); call free, (0);',
    ) +
    kernel(
      'huge',
      'call (%rd3), malloc, (%rd1); mul.wide.u32 %rd4, %r1, 8; st.local.b64 [args], %rd3; setp.ne.s64 %p1, %rd3, 0; @%p1 trap;',
    ) +
    kernel('wrong', 'add.s64 %rd3, %rd1, 16; setp.eq.u32 %p1, %r1, 9;\n@%p1 call free, (%rd3);') +
    kernel('twice', 'call (%rd3), malloc, (8); call free, (%rd3); call free, (%rd3);');

  it('lives on after the kernel, and gives back', () => {
    const bench = new RuntimeBench(text);
    const buffer = bench.space.map(256, 'readWrite').virtualAddress;
    expect(bench.run(runner, 'allocate', buffer).status).toBe('done');
    const chunks = [...new BigUint64Array(Uint8Array.from(bench.space.view(buffer, 256)).buffer)].map(Number);
    expect(new Set(chunks).size).toBe(32);
    expect(bench.space.openHeap().allocations()).toEqual(chunks.map((address) => ({ address, bytes: 24 })));
    expect(bench.run(runner, 'sum', buffer).status).toBe('done');
    const sums = [...new BigUint64Array(Uint8Array.from(bench.space.view(buffer, 256)).buffer)].map(Number);
    expect(sums).toEqual(lanes(32).map((lane) => lane + 100));
    expect(bench.space.openHeap().allocations()).toEqual([]);
  });

  it('gives null for more than it has', () => {
    expect(new RuntimeBench(text).run(runner, 'huge', 9 * 2 ** 20).status).toBe('done');
  });

  it('faults for what malloc did not give, and for a second free', () => {
    const bench = new RuntimeBench(text);
    const address = 2 ** 46 + 4096;
    const wrong = bench.fault(runner, 'wrong', address);
    expect(wrong).toMatchObject({ code: 'illegalAddress', address: address + 16, thread: [9, 0, 0] });
    expect(wrong.message).toMatch(/free of 0x[0-9a-f]+, which malloc did not give/);
    expect(bench.fault(runner, 'twice')).toMatchObject({ code: 'illegalAddress', thread: [0, 0, 0] });
  });
});
