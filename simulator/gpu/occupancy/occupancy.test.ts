import { describe, expect, it } from 'vitest';
import { parseModule } from '../../ptx/index.js';
import { GpuError } from '../gpuError.js';
import { profileNamed } from '../profiles/index.js';
import { blockFootprint, checkLaunch, estimateRegisters, occupancy, staticSharedBytes } from './index.js';

const h200 = profileNamed('h200');

describe('occupancy', () => {
  it.each([
    [256, 32, 0, 8, 'threads'],
    [1024, 32, 0, 2, 'threads'],
    [256, 64, 0, 4, 'registers'],
    [32, 16, 0, 32, 'blocks'],
    [128, 32, 100 * 1024, 2, 'shared'],
    [33, 16, 0, 32, 'warps'],
  ])(
    '%i threads, %i registers, %i bytes: %i blocks, bound by %s',
    (threads, registers, shared, blocks, bound) => {
      const found = occupancy(h200, blockFootprint(h200, threads, registers, shared));
      expect(found).toMatchObject({ blocksPerSm: blocks, boundBy: bound });
    },
  );

  it('rounds registers to allocation units of a warp', () => {
    expect(blockFootprint(h200, 32, 17, 0).registers).toBe(768);
  });
});

const PTX = `
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
.maxntid 128
{
  .shared .align 16 .b8 tile[1000];
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  ret;
}
`;

describe('launch limits', () => {
  const module = parseModule(PTX, 'k.ptx');
  const kernel = module.functions[0];
  const check = (
    grid: [number, number, number],
    block: [number, number, number],
    dynamic = 0,
  ): (() => void) => {
    return () =>
      checkLaunch(
        h200,
        kernel,
        { grid, block, dynamicSharedBytes: dynamic },
        estimateRegisters(kernel),
        staticSharedBytes(module, kernel) + dynamic,
      );
  };

  it('leaves out what only other kernels of the module use', () => {
    const text = PTX.replace('.visible', '.shared .align 4 .b8 others[50000];\n.visible');
    const crowded = parseModule(text, 'crowded.ptx');
    expect(staticSharedBytes(crowded, crowded.functions[0])).toBe(1000);
    const user = parseModule(text.replace('  ret;', '  st.shared.u32 [others], 0;\n  ret;'), 'user.ptx');
    expect(staticSharedBytes(user, user.functions[0])).toBe(51_000);
  });

  it('counts static shared memory', () => {
    expect(staticSharedBytes(module, kernel)).toBe(1000);
  });

  it.each([
    [check([1, 1, 1], [129, 1, 1]), /block: 129 threads.*\.maxntid 128/],
    [check([1, 1, 1], [1, 1, 65]), /block\.z: 65; the limit is 64/],
    [check([1, 65536, 1], [1, 1, 1]), /grid\.y: 65536; the limit is 65535/],
    [check([1.5, 1, 1], [1, 1, 1]), /grid\.x: 1\.5/],
    [check([1, 1, 1], [64, 1, 1], 232_000), /233000 bytes of shared memory.*the limit is 232448/],
    [check([1, 1, 1], [64, 1, 1], -4), /dynamicSharedBytes: -4/],
  ])('refuses by name %#', (attempt, message) => {
    expect(attempt).toThrow(GpuError);
    expect(attempt).toThrow(message);
  });

  it('allows what fits', () => {
    expect(check([2147483647, 1, 1], [128, 1, 1], 231_000)).not.toThrow();
  });
});
