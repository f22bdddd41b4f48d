import { describe, expect, it } from 'vitest';
import { parseModule } from '../ptx/index.js';
import { loadModule, NodeMemory, WasmExecutor, type ExecutorLaunch } from './index.js';
import { packParams } from './tests/referenceLaunch.js';

const memory = new NodeMemory({ backingBytes: 64 * 2 ** 20 });
const executor = new WasmExecutor(memory, { vectorAfter: 0 });
const space = memory.createSpace();

/** Each thread moves element tid * stride of a to the same place of b, through word tid * 2 of shared memory. */
function strided(stride: number): ExecutorLaunch {
  const text = `.version 9.0
.target sm_90
.address_size 64
.shared .align 4 .b8 s[512];
.visible .entry move(.param .u64 a, .param .u64 b) {
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [b];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, ${4 * stride};
add.s64 %rd4, %rd1, %rd3;
add.s64 %rd5, %rd2, %rd3;
ld.global.u32 %r2, [%rd4];
shl.b32 %r3, %r1, 3;
mov.u32 %r4, s;
add.s32 %r5, %r4, %r3;
st.shared.u32 [%r5], %r2;
ld.shared.u32 %r6, [%r5];
st.global.u32 [%rd5], %r6;
ret;
}`;
  const module = loadModule(parseModule(text, 'move.ptx'), space);
  const kernel = module.ir.functions[0];
  if (kernel === undefined) throw new Error('no kernel');
  const [a, b] = [space.map(64 * 4 * stride, 'readWrite'), space.map(64 * 4 * stride, 'readWrite')];
  space.view(a.virtualAddress, a.bytes).fill(1);
  return {
    module,
    kernel,
    shape: { grid: [3, 1, 1], block: [64, 1, 1], dynamicSharedBytes: 0 },
    params: packParams(kernel, [a.virtualAddress, b.virtualAddress]),
  };
}

describe('profile', () => {
  it.each([
    [1, 4],
    [2, 8],
    [8, 32],
    [16, 32],
  ])('stride %d touches %d sectors a request', (stride, sectors) => {
    const launch = strided(stride);
    const before = memory.hash();
    const profile = executor.profile(launch, [0, 2]);
    expect(memory.hash()).toBe(before);
    expect(profile.sampledBlocks).toBe(2);
    expect(profile.sites.map(({ kind, requests }) => [kind, requests])).toEqual([
      ['load', 4],
      ['store', 4],
    ]);
    for (const site of profile.sites) {
      expect(site.sectors / site.requests).toBe(sectors);
      expect(site.distinctSectors).toBe(site.sectors);
      expect(site.bytesPerThread).toBe(4);
    }
    // A stride of two words puts two lanes on each bank.
    expect(profile.sharedRequests).toBe(8);
    expect(profile.sharedWavefronts).toBe(16);
  });

  it('leaves a launch after it as it would have been', () => {
    const launch = strided(1);
    const fork = memory.fork();
    executor.profile(launch, [0, 1, 2]);
    expect(executor.run(launch, { lo: 0, hi: 3 }, 'fast', 1e6).status).toBe('done');
    const forkedSpace = fork.space(space.id);
    if (forkedSpace === undefined) throw new Error('no space in the fork');
    const forked = { ...launch, module: { ...launch.module, space: forkedSpace } };
    expect(new WasmExecutor(fork).run(forked, { lo: 0, hi: 3 }, 'fast', 1e6).status).toBe('done');
    expect(fork.hash()).toBe(memory.hash());
  });
});
