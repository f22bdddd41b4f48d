import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lowerModule, parseModule } from '../../ptx/index.js';
import { hasFusedMultiplyAdd } from './library/index.js';
import { compileKernel } from './kernelCompiler.js';
import { NOTHING_LEFT_OUT, OPTIMISATIONS, optimisationKey, type Optimisation } from './plan/index.js';

it('gives each set of optimisations a key of its own', () => {
  const sets = OPTIMISATIONS.flatMap((one) => OPTIMISATIONS.map((other) => new Set([one, other])));
  const keys = new Set([...sets, NOTHING_LEFT_OUT].map(optimisationKey));
  const count = OPTIMISATIONS.length;
  expect(keys.size).toBe((count * (count - 1)) / 2 + count + 1);
  expect(optimisationKey(new Set(['wide', 'vector']))).toBe(optimisationKey(new Set(['vector', 'wide'])));
});

describe('what is left out', () => {
  /** A kernel whose code shows each; threads are no matter of code. */
  const shownBy: Readonly<Record<Exclude<Optimisation, 'threads'>, string>> = {
    vector: 'saxpy',
    wide: 'saxpy',
    uniform: 'saxpy',
    affine: 'saxpy',
    contiguous: 'saxpy',
    masks: 'conv3x3',
    edgeConditions: 'saxpy',
    accessBundles: 'dense_relu',
    steadyLoops: 'dense_relu',
    warpOperations: 'dense_relu',
    blockDriver: 'softmax',
    fusedMultiplyAdd: 'saxpy',
  };

  function code(file: string, without: ReadonlySet<Optimisation>): string {
    const url = new URL(`../../gpu/reference/kernels/${file}.ptx`, import.meta.url);
    const ir = lowerModule(parseModule(readFileSync(url, 'utf8'), file));
    const fn = ir.functions.find(({ isEntry }) => isEntry);
    if (fn === undefined) throw new Error(`${file} has no kernel`);
    const { bytes } = compileKernel(ir, fn, 65536, { groups: 8, without });
    return Buffer.from(bytes).toString('base64');
  }

  it.each(Object.entries(shownBy))('%s is missing from the code of %s', (name, file) => {
    const without = new Set([name as Optimisation]);
    const isThere = name !== 'fusedMultiplyAdd' || hasFusedMultiplyAdd();
    expect(code(file, without) !== code(file, NOTHING_LEFT_OUT)).toBe(isThere);
  });
});
