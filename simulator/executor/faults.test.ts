import { describe, expect, it } from 'vitest';
import { parseModule } from '../ptx/index.js';
import { ExecutorError } from './runtime/index.js';
import {
  loadModule,
  NodeMemory,
  WasmExecutor,
  type Dim3,
  type KernelFault,
  type RunResult,
} from './index.js';
import { packParams } from './tests/referenceLaunch.js';

const memory = new NodeMemory({ backingBytes: 64 * 2 ** 20 });
const executor = new WasmExecutor(memory, { vectorAfter: 0 });
const space = memory.createSpace();

function kernelText(body: string, variables = ''): string {
  return `.version 9.0
.target sm_90
.address_size 64
${variables}
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
{
.reg .pred %p<4>;
.reg .f32 %f<4>;
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
ld.param.u64 %rd1, [k_param_0];
ld.param.u32 %r1, [k_param_1];
mov.u32 %r2, %tid.x;
${body}
ret;
}
`;
}

/** Line of the last text like this. */
function lineOf(text: string, part: string): number {
  return text.slice(0, text.lastIndexOf(part)).split('\n').length;
}

interface Shape {
  readonly grid?: Dim3;
  readonly block?: Dim3;
  readonly dynamicSharedBytes?: number;
}

function run(text: string, address: number, value = 0, shape: Shape = {}, fuel = 1e6): RunResult {
  const module = loadModule(parseModule(text, 'k.ptx'), space);
  const kernel = module.ir.functions[0];
  if (kernel === undefined) throw new Error('no kernel');
  const { grid = [2, 1, 1], block = [64, 1, 1], dynamicSharedBytes = 0 } = shape;
  return executor.run(
    {
      module,
      kernel,
      shape: { grid, block, dynamicSharedBytes },
      params: packParams(kernel, [address, value]),
    },
    { lo: 0, hi: grid[0] * grid[1] * grid[2] },
    'fast',
    fuel,
  );
}

function faultOf(result: RunResult): KernelFault {
  if (result.status !== 'fault') throw new Error(`expected a fault, got ${result.status}`);
  return result.fault;
}

/** Each thread stores its index at param 0 + 4 * (index in the grid). */
const storeIndex = kernelText(`
mov.u32 %r3, %ctaid.x;
mov.u32 %r4, %ntid.x;
mad.lo.s32 %r5, %r3, %r4, %r2;
mul.wide.s32 %rd2, %r5, 4;
add.s64 %rd3, %rd1, %rd2;
st.global.u32 [%rd3], %r5;`);
const STORE_LINE = lineOf(storeIndex, 'st.global');

/** Whatever happened before, an ordinary launch works. */
function expectWorking(): void {
  const buffer = space.map(128 * 4, 'readWrite');
  expect(run(storeIndex, buffer.virtualAddress).status).toBe('done');
  const words = new Int32Array(memory.buffer, buffer.offset, 128);
  expect([...words]).toEqual([...words.keys()]);
  space.unmap(buffer.virtualAddress);
}

describe('faults name where and leave the executor working', () => {
  it('null pointer', () => {
    const fault = faultOf(run(storeIndex, 0));
    expect(fault).toMatchObject({
      code: 'illegalAddress',
      kernel: 'k',
      block: [0, 0, 0],
      thread: [0, 0, 0],
      ptxFile: 'k.ptx',
      ptxLine: STORE_LINE,
      address: 0,
    });
    expect(fault.message).toContain(`k.ptx:${STORE_LINE}`);
    expectWorking();
  });

  it('one element past the end, after the elements before it were written', () => {
    const buffer = space.map(100 * 4, 'readWrite');
    const result = run(storeIndex, buffer.virtualAddress);
    expect(faultOf(result)).toMatchObject({
      code: 'illegalAddress',
      block: [1, 0, 0],
      thread: [36, 0, 0],
      ptxLine: STORE_LINE,
      address: buffer.virtualAddress + 400,
    });
    expect(new Int32Array(memory.buffer, buffer.offset, 100)[99]).toBe(99);
    expect(result.counters.threadInstructions).toBeGreaterThan(900);
    expect(result.counters.blocks).toBe(1);
    expectWorking();
  });

  it('an access that begins inside and ends one byte past the end', () => {
    const buffer = space.map(7, 'readWrite');
    const text = kernelText('ld.global.u32 %r3, [%rd1+4];');
    expect(faultOf(run(text, buffer.virtualAddress))).toMatchObject({
      code: 'illegalAddress',
      address: buffer.virtualAddress + 4,
    });
  });

  it('misaligned', () => {
    const buffer = space.map(1024, 'readWrite');
    const fault = faultOf(run(storeIndex, buffer.virtualAddress + 2));
    expect(fault).toMatchObject({
      code: 'misalignedAddress',
      address: buffer.virtualAddress + 2,
      ptxLine: STORE_LINE,
    });
    expectWorking();
  });

  it('prints an address beyond 2^53 to its last digit', () => {
    const text = kernelText('mov.u64 %rd1, 0xfffffffffffffffb; ld.global.u8 %r3, [%rd1];');
    expect(faultOf(run(text, 0)).message).toContain('0xfffffffffffffffb');
  });

  it('freed buffer', () => {
    const buffer = space.map(1024, 'readWrite');
    expect(run(storeIndex, buffer.virtualAddress).status).toBe('done');
    space.unmap(buffer.virtualAddress);
    expect(faultOf(run(storeIndex, buffer.virtualAddress))).toMatchObject({
      code: 'illegalAddress',
      address: buffer.virtualAddress,
    });
    expectWorking();
  });

  it('store to read-only memory, loads of it allowed', () => {
    const buffer = space.map(1024, 'read');
    expect(faultOf(run(storeIndex, buffer.virtualAddress))).toMatchObject({ code: 'writeToReadOnly' });
    expect(run(kernelText('ld.global.u32 %r3, [%rd1];'), buffer.virtualAddress).status).toBe('done');
  });

  it('a buffer of another context', () => {
    const other = memory.createSpace(1);
    const buffer = other.map(1024, 'readWrite');
    expect(faultOf(run(storeIndex, buffer.virtualAddress)).code).toBe('illegalAddress');
    memory.destroySpace(other);
  });

  it('shared memory overflow, static and dynamic', () => {
    const text = kernelText(
      'mov.u32 %r3, s;\nshl.b32 %r4, %r2, 2;\nadd.s32 %r5, %r3, %r4;\nst.shared.u32 [%r5], %r2;',
      '.shared .align 4 .b8 s[200];',
    );
    expect(faultOf(run(text, 0))).toMatchObject({
      code: 'sharedOutOfBounds',
      thread: [50, 0, 0],
      ptxLine: lineOf(text, 'st.shared'),
      address: 200,
    });
    const dynamic = text.replace('.shared .align 4 .b8 s[200]', '.extern .shared .align 4 .b8 s[]');
    expect(faultOf(run(dynamic, 0, 0, { dynamicSharedBytes: 128 }))).toMatchObject({ thread: [32, 0, 0] });
    expect(run(dynamic, 0, 0, { dynamicSharedBytes: 256 }).status).toBe('done');
    expectWorking();
  });

  it('local memory overflow', () => {
    const text = kernelText(
      '.local .align 4 .b8 depot[64];\nmov.u64 %rd4, depot;\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd4, %rd2;\nst.local.u32 [%rd3], %r2;',
    );
    expect(faultOf(run(text, 0))).toMatchObject({
      code: 'localOutOfBounds',
      thread: [16, 0, 0],
      ptxLine: lineOf(text, 'st.local'),
    });
  });

  it('barrier that lanes of one warp skip on their way to code behind it', () => {
    const text = kernelText(`setp.gt.u32 %p1, %r2, 10;
@%p1 bra SKIP;
bar.sync 0;
SKIP:
st.global.u32 [%rd1], %r2;`);
    const buffer = space.map(4, 'readWrite');
    expect(faultOf(run(text, buffer.virtualAddress))).toMatchObject({
      code: 'divergentBarrier',
      block: [0, 0, 0],
      ptxLine: lineOf(text, 'bar.sync'),
    });
    expectWorking();
  });

  it('lanes of one warp at two barriers', () => {
    const text = kernelText(`setp.gt.u32 %p1, %r2, 10;
@%p1 bra ELSE;
bar.sync 0;
bra.uni JOIN;
ELSE:
bar.sync 0;
JOIN:
bar.sync 0;`);
    const fault = faultOf(run(text, 0));
    expect(fault.code).toBe('divergentBarrier');
    expect(fault.message).toMatch(/lane 0 waits here, lane 11 at line 19/);
    expectWorking();
  });

  it('early exit before a barrier is allowed', () => {
    const text = kernelText(`setp.gt.u32 %p1, %r2, 10;
@%p1 ret;
bar.sync 0;
st.global.u32 [%rd1], %r2;`);
    const buffer = space.map(4, 'readWrite');
    expect(run(text, buffer.virtualAddress).status).toBe('done');
    // Of lanes that store to one place at once the lowest one's value stays.
    expect(new Int32Array(memory.buffer, buffer.offset, 1)[0]).toBe(0);
  });

  it('endless loop ends by fuel and leaves other memory alone', () => {
    const buffer = space.map(4096, 'readWrite');
    space.view(buffer.virtualAddress, 4096).fill(7);
    const text = kernelText('LOOP:\nadd.s32 %r3, %r3, 1;\nbra.uni LOOP;');
    const result = run(text, 0, 0, {}, 10_000);
    expect(faultOf(result)).toMatchObject({
      code: 'fuelExhausted',
      block: [0, 0, 0],
      thread: [0, 0, 0],
      ptxLine: lineOf(text, 'bra.uni'),
    });
    expect(result.counters.threadInstructions).toBeGreaterThan(9_000);
    expect(result.counters.threadInstructions).toBeLessThan(21_000);
    expect(space.view(buffer.virtualAddress, 4096).every((byte) => byte === 7)).toBe(true);
    expectWorking();
  });

  it('endless loop through a barrier', () => {
    const text = kernelText('LOOP:\nadd.s32 %r3, %r3, 1;\nbar.sync 0;\nbra.uni LOOP;');
    expect(faultOf(run(text, 0, 0, {}, 10_000)).code).toBe('fuelExhausted');
    expectWorking();
  });

  it('trap', () => {
    expect(faultOf(run(kernelText('setp.eq.u32 %p1, %r2, 5;\n@%p1 trap;'), 0))).toMatchObject({
      code: 'trap',
      thread: [5, 0, 0],
      ptxLine: 15,
    });
    expectWorking();
  });

  it.each<[string, Shape, RegExp]>([
    ['too many threads', { block: [1025, 1, 1] }, /1025 threads/],
    ['empty grid', { grid: [0, 1, 1] }, /grid must be/],
    ['too much shared memory', { dynamicSharedBytes: 2 ** 20 }, /dynamicSharedBytes/],
  ])('refuses a launch with %s', (_, shape, message) => {
    expect(() => run(storeIndex, 0, 0, shape)).toThrow(ExecutorError);
    expect(() => run(storeIndex, 0, 0, shape)).toThrow(message);
  });
});
