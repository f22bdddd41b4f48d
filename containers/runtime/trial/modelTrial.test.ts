import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../simulator/files/index.js';
import {
  GOLDEN_FILE,
  ModelError,
  builtInModelPath,
  importSklearn,
  writeModelFolder,
  type ImportInputType,
} from '../../models/index.js';
import { tryModel } from './modelTrial.js';
import { fittingReplicas } from './placementTrial.js';

/** What smallModels.py wrote: scikit-learn's labels and scores are in the files. */
const EXPORTS = join(packageRoot(), 'containers/runtime/tests/sklearn');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trial-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function imported(name: string, inputType: ImportInputType = 'doubles'): string {
  const file = join(EXPORTS, `${name}.json`);
  return importText(readFileSync(file, 'utf8'), inputType);
}

function importText(text: string, inputType: ImportInputType = 'doubles'): string {
  const model = importSklearn(text, 'export.json', { inputType, maxBatchSize: 6 });
  return writeModelFolder(model, join(folder, 'model')).folder;
}

describe('an imported scikit-learn model', () => {
  it.each(['logistic', 'standardizedSvc', 'forest', 'forestOfGaps', 'perceptron', 'twoClasses'])(
    '%s gives the labels and scores of scikit-learn',
    (name) => {
      const { golden, problem } = tryModel(imported(name));
      expect(problem).toBeUndefined();
      expect(golden?.failures).toEqual([]);
      expect(golden?.passed).toBeGreaterThan(10);
    },
  );

  it('takes other inputs', () => {
    const path = imported('forest', 'floats');
    expect(tryModel(path)).toMatchObject({ problem: undefined, golden: { failures: [] } });
  });

  /** A machine whose decisions on (a, b), (a, c) and (b, c) are these for any input; above 0 is for the first. */
  function voting(intercepts: readonly number[], breakTies: boolean): string {
    const zeros = [0, 0, 0];
    const document = {
      format: 'windjammer-sklearn',
      formatVersion: 1,
      sklearnVersion: '1.2.1',
      name: 'votes',
      estimator: 'SVC',
      features: 3,
      classes: ['a', 'b', 'c'],
      steps: [],
      model: {
        kind: 'supportVectors',
        kernel: 'rbf',
        gamma: 1,
        vectors: [zeros, zeros, zeros],
        vectorsOfClass: [1, 1, 1],
        dualCoefficients: [zeros, zeros],
        intercepts,
        breakTies,
      },
      golden: [],
    };
    return importText(JSON.stringify(document));
  }

  it.each<[string, boolean, number[], string]>([
    ['the first class of a tie', false, [0.125, -0.5, 0.25], 'a'],
    ['the surest class when ties are broken', true, [0.125, -0.5, 0.25], 'c'],
    ['the second class of a pair at a decision of 0', false, [0, 1, 1], 'b'],
  ])('votes as libsvm does: %s', (_what, breakTies, decisions, label) => {
    const path = voting(decisions, breakTies);
    write(path, { tolerance: 0, cases: [{ input: [1, 2, 3], label }] });
    expect(tryModel(path).golden?.failures).toEqual([]);
  });
});

function write(path: string, golden: unknown): void {
  writeFileSync(join(path, GOLDEN_FILE), JSON.stringify(golden));
}

describe('a trial', () => {
  it('measures batches of 1, 2, 4 and the largest, the same every time', () => {
    const path = imported('logistic');
    const report = tryModel(path);
    expect(report.batches.map(({ batchSize }) => batchSize)).toEqual([1, 2, 4, 6]);
    for (const { latencyUs, queriesPerSecond, batchSize, threadInstructionsPerQuery } of report.batches) {
      expect(latencyUs).toBeGreaterThan(1);
      expect(queriesPerSecond).toBeCloseTo((batchSize * 1e6) / latencyUs, 3);
      expect(threadInstructionsPerQuery).toBeGreaterThan(100);
      expect(threadInstructionsPerQuery).toBeLessThan(report.threadInstructionsLimit);
    }
    expect(tryModel(path)).toEqual(report);
  });

  it('knows what the model takes of the device', () => {
    const { memory, fits } = tryModel(imported('logistic'));
    expect(fits).toBe(true);
    expect(memory.peakBytes).toBe(
      memory.weightBytes +
        memory.batchesInFlight * memory.bytesPerBatchInFlight +
        memory.contextBytes +
        memory.moduleBytes,
    );
    expect(memory.peakBytes).toBeLessThan(memory.deviceBytes);
  });

  it('knows how many replicas nodes hold, on each of their GPUs, and on which none runs', () => {
    const folder = join(packageRoot(), builtInModelPath('digits-rbf-svm'));
    const shares = fittingReplicas(folder, ['t4', '8800gtx', 't4'], 2);
    // Of 15 GiB, at 40 MiB a context and 2,020,784 bytes of arrays.
    const each = Math.floor((15 * 2 ** 30) / (40 * 2 ** 20 + 2_020_784));
    expect(shares.map(({ gpu, card, replicas }) => [gpu, card, replicas])).toEqual(
      ['node0', 'node1'].flatMap((node) => [
        [`${node}/0`, 't4', each],
        [`${node}/1`, '8800gtx', 0],
        [`${node}/2`, 't4', each],
      ]),
    );
  });

  it('runs a model without golden inputs on drawn ones', () => {
    const report = tryModel(join(packageRoot(), builtInModelPath('digits-logistic')));
    expect(report.golden).toBeUndefined();
    expect(report.batches.at(-1)?.batchSize).toBe(256);
  });

  it('finds wrong labels and wrong scores, and says which', () => {
    const path = imported('logistic');
    const golden = JSON.parse(readFileSync(join(path, GOLDEN_FILE), 'utf8')) as {
      cases: { label: string; scores: number[] }[];
    };
    golden.cases[1].label = 'virginica';
    golden.cases[8].scores[2] += 1e-3;
    write(path, golden);
    const report = tryModel(path).golden;
    expect(report?.failures.map((failure) => failure.case)).toEqual([1, 8]);
    expect(report?.failures[0].problem).toBe("the label is 'setosa', expected 'virginica'");
    expect(report?.failures[1].problem).toContain('scores[2] is');
    expect(report?.passed).toBe((report?.cases ?? 0) - 2);
  });

  it('says why a model does not start', () => {
    const path = imported('logistic');
    const file = join(path, 'manifest.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as {
      limits: { threadInstructionsPerQuery: number };
    };
    manifest.limits.threadInstructionsPerQuery = 10;
    writeFileSync(file, JSON.stringify(manifest));
    const report = tryModel(path);
    expect(report).toMatchObject({ fits: false, golden: undefined, batches: [] });
    expect(report.problem).toContain('limits.threadInstructionsPerQuery: a batch of 1 takes');
  });

  it.each<[string, unknown, string]>([
    ['no cases', { cases: [] }, 'cases: '],
    [
      'an input of another length',
      { cases: [{ input: [1], label: 'setosa' }] },
      'cases[0].input: 1 values, the model takes 4',
    ],
    [
      'an unknown label',
      { cases: [{ input: [1, 2, 3, 4], label: 'rose' }] },
      "cases[0].label: the model has no label 'rose', only setosa",
    ],
    [
      'nothing expected',
      { cases: [{ input: [1, 2, 3, 4] }] },
      "cases[0]: expects nothing: give 'label', 'scores' or both",
    ],
    ['text for a number', { cases: [{ input: ['1'], label: 'setosa' }] }, 'cases[0].input[0]: '],
  ])('refuses golden inputs with %s', (_what, golden, text) => {
    const path = imported('logistic');
    write(path, golden);
    expect(() => tryModel(path)).toThrow(ModelError);
    expect(() => tryModel(path)).toThrow(`${join(path, GOLDEN_FILE)}: ${text}`);
  });
});
