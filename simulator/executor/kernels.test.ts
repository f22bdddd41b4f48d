import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseModule } from '../ptx/index.js';
import { CompileError, loadModule, NodeMemory, WasmExecutor } from './index.js';
import { LaunchBench, storingKernel } from './tests/launchBench.js';
import { packParams } from './tests/referenceLaunch.js';

const bench = new LaunchBench();
const threads = (count: number, value: (index: number) => number): number[] =>
  Array.from({ length: count }, (_, index) => value(index) | 0);

function results(body: string, variables = '', n = 0, block = 32, grid = 1): number[] {
  const out = bench.buffer(block * grid);
  const run = bench.run(storingKernel(body, variables), {
    values: [out, n],
    block: [block, 1, 1],
    grid: [grid, 1, 1],
  });
  expect(run.status === 'fault' ? run.fault.message : run.status).toBe('done');
  return bench.words(out, block * grid);
}

describe('counters', () => {
  it('saxpy of 1000 elements: 640 warp and 20,264 thread instructions', () => {
    const path = fileURLToPath(new URL('../gpu/reference/kernels/saxpy.ptx', import.meta.url));
    const text = readFileSync(path, 'utf8');
    const [x, y] = [bench.buffer(1000), bench.buffer(1000)];
    const floats = (address: number): Float32Array => {
      const bytes = bench.space.view(address, 4000);
      return new Float32Array(bytes.buffer, bytes.byteOffset, 1000);
    };
    floats(x).forEach((_, index, all) => (all[index] = index));
    floats(y).fill(1);
    const result = bench.run(text, { values: [1000, 2, x, y], grid: [4, 1, 1], block: [256, 1, 1] });
    expect(result.counters.threadInstructions).toBe(20_264);
    expect(result.counters.warpInstructions).toBe(640);
    expect(Object.values(result.counters.byClass).reduce((sum, count) => sum + count)).toBe(640);
    expect(result.counters).toMatchObject({ globalLoadBytes: 8000, globalStoreBytes: 4000, blocks: 4 });
    expect(floats(y).every((value, index) => value === 2 * index + 1)).toBe(true);
  });

  it('a warp goes round a loop as often as its slowest lane', () => {
    const out = bench.buffer(64);
    const text = storingKernel(
      'mov.u32 %r9, 0;\nLOOP:\nadd.u32 %r9, %r9, 1;\nsetp.le.u32 %p1, %r9, %r1;\n@%p1 bra LOOP;',
    );
    const { counters } = bench.run(text, { values: [out, 0], block: [64, 1, 1] });
    // 4 before the loop, 7 behind it, 3 in it: lane t goes round t + 1 times.
    expect(counters.threadInstructions).toBe(64 * 11 + (3 * 64 * 65) / 2);
    expect(counters.warpInstructions).toBe(2 * 11 + 3 * 32 + 3 * 64);
  });
});

describe('control flow', () => {
  it('a loop with two entrances runs by a jump table', () => {
    const body = `mov.u32 %r9, 0;
mov.u32 %r2, 0;
and.b32 %r3, %r1, 1;
setp.eq.u32 %p1, %r3, 0;
@%p1 bra SECOND;
FIRST:
add.u32 %r9, %r9, 1;
SECOND:
add.u32 %r9, %r9, 10;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p2, %r2, 3;
@%p2 bra FIRST;`;
    // Odd lanes pass FIRST three times, even ones twice.
    expect(results(body)).toEqual(threads(32, (lane) => 30 + (lane % 2 === 1 ? 3 : 2)));
  });

  it('an endless loop with two entrances ends by fuel', () => {
    const body = `setp.eq.u32 %p1, %r1, 0;
@%p1 bra SECOND;
FIRST:
add.u32 %r9, %r9, 1;
SECOND:
add.u32 %r9, %r9, 10;
bra.uni FIRST;`;
    const result = bench.run(storingKernel(body), { values: [bench.buffer(32), 0], fuel: 10_000 });
    expect(result.status === 'fault' ? result.fault.code : result.status).toBe('fuelExhausted');
  });

  it('nested loops with breaks and a barrier inside', () => {
    const body = `mov.u32 %r9, 0;
mov.u32 %r2, 0;
OUTER:
mov.u32 %r3, 0;
INNER:
setp.gt.u32 %p1, %r3, %r1;
@%p1 bra DONE;
add.u32 %r9, %r9, %r2;
add.u32 %r3, %r3, 1;
bra.uni INNER;
DONE:
bar.sync 0;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p2, %r2, 4;
@%p2 bra OUTER;`;
    expect(results(body, '', 0, 96)).toEqual(threads(96, (index) => 6 * (index + 1)));
  });
});

describe('large kernels', () => {
  it('two thousand loops in a row', () => {
    const loop = (index: number): string => `mov.u32 %r2, 0;
L${index}:
add.u32 %r9, %r9, 1;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 3;
@%p1 bra L${index};`;
    const body = ['mov.u32 %r9, 0;', ...Array.from({ length: 2000 }, (_, index) => loop(index))].join('\n');
    expect(results(body)).toEqual(threads(32, () => 6000));
  });
});

describe('memory spaces', () => {
  it('constants and initialised variables, addresses inside them too', () => {
    const variables = `.const .align 4 .u32 table[4] = {10, 20, 30, 40};
.global .align 4 .u32 counter = 5;
.global .align 8 .u64 pointer = counter;`;
    const body = `and.b32 %r2, %r1, 3;
mul.wide.u32 %rd1, %r2, 4;
mov.u64 %rd2, table;
add.s64 %rd3, %rd2, %rd1;
ld.const.u32 %r3, [%rd3];
ld.global.u64 %rd4, [pointer];
ld.global.u32 %r4, [%rd4];
atom.global.add.u32 %r5, [counter], 0;
add.u32 %r9, %r3, %r4;`;
    expect(results(body, variables)).toEqual(threads(32, (lane) => 10 * ((lane % 4) + 1) + 5));
  });

  it('generic addresses reach shared, local and global memory', () => {
    const variables = '.shared .align 4 .b8 s[128];';
    const body = `.local .align 4 .b8 depot[16];
mov.u64 %rd1, s;
cvta.shared.u64 %rd2, %rd1;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd4, %rd2, %rd3;
st.u32 [%rd4], %r1;
mov.u64 %rd5, depot;
cvta.local.u64 %rd6, %rd5;
add.u32 %r2, %r1, 100;
st.u32 [%rd6+8], %r2;
add.s64 %rd7, %rd0, %rd3;
st.u32 [%rd7], 1000;
bar.sync 0;
xor.b32 %r3, %r1, 1;
shl.b32 %r4, %r3, 2;
mov.u32 %r5, s;
add.u32 %r6, %r5, %r4;
ld.shared.u32 %r7, [%r6];
ld.u32 %r8, [%rd6+8];
ld.u32 %r10, [%rd7];
add.u32 %r9, %r7, %r8;
add.u32 %r9, %r9, %r10;`;
    expect(results(body, variables)).toEqual(threads(32, (lane) => (lane ^ 1) + lane + 1100));
  });

  it('shared memory starts at zero in every block', () => {
    const body = `ld.shared.u32 %r9, [s];
bar.sync 0;
st.shared.u32 [s], 7;`;
    expect(results(body, '.shared .align 4 .b8 s[4];', 0, 32, 4)).toEqual(threads(128, () => 0));
  });

  it('more local memory than the executor keeps ready', () => {
    const body = `.local .align 4 .b8 depot[16384];
mov.u64 %rd1, depot;
st.local.u32 [%rd1+16380], %r1;
bar.sync 0;
ld.local.u32 %r9, [%rd1+16380];`;
    const before = bench.memory.usedBytes;
    const out = results(body, '', 0, 1024);
    expect(out).toEqual(threads(1024, (index) => index));
    expect(bench.memory.usedBytes - before).toBeLessThan(2 ** 16);
  });
});

describe('lanes that part', () => {
  it('meet by member masks', () => {
    const body = `setp.lt.u32 %p1, %r1, 16;
@%p1 bra LOW;
shfl.sync.bfly.b32 %r9, %r1, 1, 0x1f, 0xffff0000;
bra.uni JOIN;
LOW:
redux.sync.add.u32 %r9, %r1, 0x0000ffff;
JOIN:
bar.warp.sync 0xffffffff;`;
    expect(results(body)).toEqual(threads(32, (lane) => (lane < 16 ? 120 : lane ^ 1)));
  });

  it('exited lanes are not waited for', () => {
    const body = `mov.u32 %r9, -1;
setp.gt.u32 %p1, %r1, 20;
@%p1 ret;
vote.sync.ballot.b32 %r9, 1, 0xffffffff;`;
    const out = results(body);
    expect(out.slice(0, 21)).toEqual(threads(21, () => 0x1fffff));
  });

  it('a lane that its own mask does not name is a fault', () => {
    const run = bench.run(storingKernel('shfl.sync.idx.b32 %r9, %r1, 0, 0x1f, 0x0000ffff;'), {
      values: [bench.buffer(32), 0],
    });
    expect(run.status === 'fault' ? run.fault : run.status).toMatchObject({
      code: 'divergentBarrier',
      thread: [16, 0, 0],
    });
  });
});

describe('compilation', () => {
  it('refuses an unsupported instruction by name and line', () => {
    const text = storingKernel('wgmma.fence.sync.aligned;');
    const attempt = (): unknown => bench.run(text, { values: [0, 0] });
    expect(attempt).toThrow(CompileError);
    expect(attempt).toThrow(/line 15.*wgmma/);
  });

  it('the same text in another context and node gives the same result', () => {
    const text = storingKernel('add.u32 %r9, %r1, 3;');
    for (let node = 0; node < 2; node++) {
      const memory = new NodeMemory({ backingBytes: 16 * 2 ** 20 });
      const executor = new WasmExecutor(memory, { vectorAfter: 0 });
      for (let context = 0; context < 2; context++) {
        const space = memory.createSpace();
        const module = loadModule(parseModule(text, 'test.ptx'), space);
        const kernel = module.ir.functions[0];
        if (kernel === undefined) throw new Error('no kernel');
        const out = space.map(128, 'readWrite');
        const shape = { grid: [1, 1, 1], block: [32, 1, 1], dynamicSharedBytes: 0 } as const;
        const launch = { module, kernel, shape, params: packParams(kernel, [out.virtualAddress, 0]) };
        expect(executor.run(launch, { lo: 0, hi: 1 }, 'fast', 1e6).status).toBe('done');
        const words = new Int32Array(Uint8Array.from(space.view(out.virtualAddress, 128)).buffer);
        expect([...words]).toEqual(threads(32, (lane) => lane + 3));
      }
    }
  });

  it('runs a range of blocks and leaves the others alone', () => {
    const out = bench.buffer(128);
    const text = storingKernel('mov.u32 %r9, 1;');
    const module = loadModule(parseModule(text, 'test.ptx'), bench.space);
    const kernel = module.ir.functions[0];
    if (kernel === undefined) throw new Error('no kernel');
    const shape = { grid: [4, 1, 1], block: [32, 1, 1], dynamicSharedBytes: 0 } as const;
    const launch = { module, kernel, shape, params: packParams(kernel, [out, 0]) };
    expect(bench.executor.run(launch, { lo: 1, hi: 3 }, 'fast', 1e6).counters.blocks).toBe(2);
    expect(bench.words(out, 128)).toEqual(threads(128, (index) => (index >= 32 && index < 96 ? 1 : 0)));
    expect(() => bench.executor.run(launch, { lo: 3, hi: 5 }, 'fast', 1e6)).toThrow(/block range \[3, 5\)/);
  });
});
