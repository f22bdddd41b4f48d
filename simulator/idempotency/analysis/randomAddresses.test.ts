import { describe, expect, it } from 'vitest';
import { FuzzBench, generateKernel } from '../../laboratory/fuzz/index.js';
import { loadModule, NodeMemory } from '../../executor/index.js';
import { parseModule } from '../../ptx/index.js';
import { uncoveredAccesses } from './tests/coverage.js';
import { randomAddressKernel } from './tests/randomAddressKernel.js';

const BUFFER_BYTES = 2 ** 20;

function uncovered(seed: number): string[] {
  const { text, a, b, grid, block } = randomAddressKernel(seed);
  const memory = new NodeMemory({ backingBytes: 8 * 2 ** 20 });
  const space = memory.createSpace();
  const module = loadModule(parseModule(text, `seed ${seed}`), space);
  const kernel = module.ir.functions[0];
  if (kernel === undefined || kernel.refusal !== undefined)
    throw new Error(`seed ${seed}: ${kernel?.refusal?.reason}`);
  const params = new DataView(new ArrayBuffer(kernel.parameterBytes));
  const { virtualAddress } = space.map(BUFFER_BYTES, 'readWrite');
  params.setBigUint64(0, BigInt(virtualAddress + BUFFER_BYTES / 2), true);
  params.setInt32(8, a, true);
  params.setInt32(12, b, true);
  return uncoveredAccesses({
    module,
    kernel,
    shape: { grid: [grid, 1, 1], block: [block, 1, 1], dynamicSharedBytes: 0 },
    params: new Uint8Array(params.buffer),
  });
}

describe('summaries of random kernels', () => {
  it('cover every access, whatever arithmetic, branches and loops lead to it', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const found = uncovered(seed);
      if (found.length > 0)
        expect.fail(`seed ${seed}: ${found.join(', ')}\n${randomAddressKernel(seed).text}`);
    }
  });

  it.each([1, 2] as const)('cover what the executors are tested with, generation %i', (generation) => {
    for (let seed = 1; seed <= 6; seed++) {
      const bench = new FuzzBench(generateKernel(seed, { generation }));
      expect([seed, ...uncoveredAccesses(bench.launch)]).toEqual([seed]);
      bench.close();
    }
  });
});
