import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { NodeMemory, WasmExecutor } from '../index.js';
import { elementsOf, placeLaunch, readSpec } from './referenceLaunch.js';

const folder = fileURLToPath(new URL('../../gpu/reference/launches', import.meta.url));
const memory = new NodeMemory({ backingBytes: 256 * 2 ** 20 });
const executor = new WasmExecutor(memory);
const approximate = /softmax|rbf/;
/** Thread-instructions: what a spec may cost here. Larger ones run in the script `runReferences.ts`. */
const FUEL = 1e9;

const specs = readdirSync(folder)
  .map((name) => ({ name, path: join(folder, name), spec: readSpec(join(folder, name)) }))
  .filter(({ spec }) => elementsOf(spec) <= 2 ** 20);

describe('kernels measured on a real card', () => {
  afterAll(() => expect(memory.spaces()).toHaveLength(0));

  it.each(specs)('$name', ({ path, spec }) => {
    const space = memory.createSpace();
    const { launch, outputs } = placeLaunch(spec, path, space);
    const [x, y, z] = spec.grid;
    const result = executor.run(launch, { lo: 0, hi: x * y * z }, 'fast', FUEL);
    expect(result.status === 'fault' ? result.fault.message : result.status).toBe('done');
    const output = outputs()[0] ?? new Float32Array();
    for (const [index, expected] of Object.entries(spec.expect?.samples ?? {})) {
      const value = output[Number(index)] ?? NaN;
      if (approximate.test(spec.kernel))
        expect(Math.abs(value - expected)).toBeLessThanOrEqual(tolerance(spec, expected));
      else expect(Math.fround(value)).toBe(Math.fround(expected));
    }
    if (spec.expect?.sum !== undefined) {
      let sum = 0;
      for (const value of output) sum += value;
      expect(Math.abs(sum - spec.expect.sum)).toBeLessThanOrEqual(
        1e-5 * Math.max(1, Math.abs(spec.expect.sum)),
      );
    }
    memory.destroySpace(space);
  });
});

/** Four units in the last place of the largest term; the terms of a sum of exponentials are at most one. */
function tolerance(spec: { readonly kernel: string }, expected: number): number {
  const largest = spec.kernel.includes('rbf') ? Math.max(1, Math.abs(expected)) : Math.abs(expected);
  return 4 * largest * 2 ** -23;
}
