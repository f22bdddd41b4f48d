import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { NodeMemory, WasmExecutor } from './index.js';
import { elementsOf, placeLaunch, readSpec } from './tests/referenceLaunch.js';

const folder = fileURLToPath(new URL('../gpu/reference/launches', import.meta.url));
const memory = new NodeMemory({ backingBytes: 256 * 2 ** 20 });
const executor = new WasmExecutor(memory, { vectorAfter: 0 });
/** Thread-instructions: what a spec may cost here. Larger ones run in the script `runReferences.ts`. */
const FUEL = 1e9;

/** Larger, yet cheap: one sum of 4096 exponentials, where an error of one unit in each would show. */
const longestSum = 'rbf_svm__batch-1-nsv-4096';

const specs = readdirSync(folder)
  .map((name) => ({ name, path: join(folder, name), spec: readSpec(join(folder, name)) }))
  .filter(({ name, spec }) => elementsOf(spec) <= 2 ** 20 || name.startsWith(longestSum));

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
      expect(Math.fround(output[Number(index)] ?? NaN), `element ${index}`).toBe(Math.fround(expected));
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
