import { describe, expect, it } from 'vitest';
import { parseModule } from '../../ptx/index.js';
import { GpuError } from '../gpuError.js';
import { profileNamed } from '../profiles/index.js';
import { checkLaunch, staticSharedBytes } from './launchLimits.js';
import { blockFootprint, occupancy } from './occupancy.js';
import { estimateRegisters } from './registerEstimate.js';
import { csvRows } from '../../laboratory/registers/index.js';

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

describe('occupancy of a real card', () => {
  /** `cuOccupancyMaxActiveBlocksPerMultiprocessor` of an H200. */
  const rows = csvRows('gpu/reference/h200-occupancy.csv').map((cells) => {
    const number = (name: string): number => Number(cells[name]);
    return {
      threads: number('threads'),
      registers: number('registers'),
      sharedBytes: number('static_shared_bytes') + number('dynamic_shared_bytes'),
      carveout: number('carveout_pct') < 0 ? undefined : number('carveout_pct'),
      blocksPerSm: number('blocks_per_sm'),
    };
  });

  it('is what its driver says, with and without a preferred carve-out', () => {
    const differing = rows.filter(({ threads, registers, sharedBytes, carveout, blocksPerSm }) => {
      const block = blockFootprint(h200, threads, registers, sharedBytes);
      return occupancy(h200, block, carveout).blocksPerSm !== blocksPerSm;
    });
    expect(rows.length).toBeGreaterThan(2900);
    expect(differing.slice(0, 5)).toEqual([]);
  });

  it('is what its driver says for every kernel of this repository', () => {
    const kernels = csvRows('gpu/reference/h200-registers.csv');
    expect(kernels.length).toBeGreaterThan(225);
    const differing = kernels.filter((cells) =>
      [128, 256].some((threads) => {
        const shared = Number(cells['static_shared_bytes']);
        const block = blockFootprint(h200, threads, Number(cells['registers']), shared);
        return occupancy(h200, block).blocksPerSm !== Number(cells[`blocks_per_sm_${threads}`]);
      }),
    );
    expect(differing).toEqual([]);
  });
});

describe('memory of an SM', () => {
  const KIB = 1024;

  it.each([
    [256, 0, undefined, 8, 248],
    [128, 32 * KIB, undefined, 228, 28],
    [256, 12 * KIB, undefined, 132, 124],
    [256, 0, 50, 132, 124],
    [128, 100_000, 0, 100, 156],
  ])(
    '%i threads with %i bytes, %s percent wished: %i KiB shared and %i KiB of L1',
    (threads, shared, wish, split, l1) => {
      const found = occupancy(h200, blockFootprint(h200, threads, 32, shared), wish);
      expect(found.sharedConfigurationBytes).toBe(split * KIB);
      expect(found.l1Bytes).toBe(l1 * KIB);
    },
  );
});

describe('occupancy of older cards, by the rules of the CUDA occupancy calculator', () => {
  it.each([
    // Registers go to blocks, for an even number of warps, in units of 256.
    ['8800gtx', 256, 10, 0, 3, 'threads'],
    ['8800gtx', 256, 11, 0, 2, 'registers'],
    ['8800gtx', 96, 20, 0, 3, 'registers'],
    ['8800gtx', 64, 10, 0, 8, 'blocks'],
    ['8800gtx', 512, 10, 0, 1, 'threads'],
    ['8800gtx', 128, 10, 9 * 1024, 1, 'shared'],
    ['k20c', 256, 32, 0, 8, 'threads'],
    ['k20c', 64, 16, 0, 16, 'blocks'],
    ['k20c', 128, 16, 10_000, 4, 'shared'],
    ['v100', 128, 32, 40_000, 2, 'shared'],
    ['t4', 256, 64, 0, 4, 'threads'],
    ['a100', 128, 168, 0, 3, 'registers'],
  ])(
    '%s: %i threads, %i registers, %i bytes: %i blocks, bound by %s',
    (name, threads, registers, shared, blocks, bound) => {
      const card = profileNamed(name);
      const found = occupancy(card, blockFootprint(card, threads, registers, shared));
      expect(found).toMatchObject({ blocksPerSm: blocks, boundBy: bound });
    },
  );
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
        estimateRegisters(kernel, h200),
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
