import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { digitAt, heldOutDigits } from '../../../containers/models/index.js';
import { imageProbabilities } from '../../../containers/models/testing/index.js';
import { trainedNetwork } from '../trainedNetworks.js';
import { PYTHON, canImport, makeKinds } from './kindsOfModels.js';
import { measureKinds } from './measureKinds.js';

const DIGITS = 100;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kinds-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it.skipIf(!canImport(PYTHON, 'numpy'))(
  'answers as the networks do, however each is served, and as well together',
  async () => {
    const { digits, singles, ensemble } = await measureKinds(makeKinds(folder, 1), DIGITS, 1);
    const networks = singles.filter(({ name }) => name !== 'forest');
    expect(networks.map(({ name }) => name)).toEqual(['vgg', 'resnet', 'inception', 'googlenet', 'caffenet']);
    const set = heldOutDigits();
    for (const { name, outputs } of networks) {
      const scores = imageProbabilities(trainedNetwork(name));
      const alone = digits.map((at) => {
        const values = scores(digitAt(set, at));
        return `${values.indexOf(Math.max(...values))}`;
      });
      expect(outputs, name).toEqual(alone);
    }
    expect(ensemble.missing).toBe(0);
    expect(ensemble.error).toBeLessThan(Math.max(...singles.map(({ error }) => error)) + 1e-9);
    expect(ensemble.agreedError).toBeLessThanOrEqual(ensemble.error);
  },
);
