import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ModelError } from '../../modelError.js';
import { writeModelFolder } from '../modelFolder.js';
import { importSklearn } from './sklearnImport.js';

const OPTIONS = { inputType: 'doubles', maxBatchSize: 4 } as const;

interface Loose {
  [key: string]: unknown;
  classes: string[];
  golden: { input: number[]; label: string; scores: number[] }[];
  steps: object[];
  model: Record<string, unknown>;
}

function linear(): Loose {
  return {
    format: 'windjammer-sklearn',
    formatVersion: 1,
    sklearnVersion: '1.2.1',
    name: 'm',
    estimator: 'LinearSVC',
    features: 2,
    classes: ['a', 'b', 'c'],
    steps: [{ kind: 'standardize', shift: [0, 0], divisor: [1, 2] }],
    model: {
      kind: 'linear',
      coefficients: [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
      intercepts: [0, 0, 0],
      probabilities: 'none',
    },
    golden: [{ input: [1, 2], label: 'a', scores: [1, 2, 3] }],
  };
}

const trees = {
  kind: 'trees',
  trees: [
    {
      feature: [1, -1, -1],
      threshold: [0.5, 0, 0],
      left: [1, -1, -1],
      right: [2, -1, -1],
      leafProbabilities: [
        [1, 0, 0],
        [0, 1, 0],
      ],
    },
  ],
};

const withRoutes = {
  ...trees,
  trees: trees.trees.map((tree) => ({ ...tree, missingLeft: [true, false, false] })),
};

const vectors = {
  kind: 'supportVectors',
  kernel: 'rbf',
  gamma: 1,
  vectors: [[1, 2]],
  vectorsOfClass: [1, 0, 0],
  dualCoefficients: [[1], [1]],
  intercepts: [0, 0, 0],
  breakTies: false,
};

const perceptron = {
  kind: 'perceptron',
  activation: 'relu',
  layers: [
    { weights: [[1], [2]], biases: [0] },
    { weights: [[1, 2, 3]], biases: [0, 0, 0] },
  ],
};

function failure(text: string): ModelError {
  try {
    importSklearn(text, 'export.json', OPTIONS);
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
  throw new Error('the model was imported');
}

describe('an export of scikit-learn', () => {
  it.each([linear().model, trees, vectors, perceptron])('is imported: $kind', (model) => {
    const { manifest } = importSklearn(JSON.stringify({ ...linear(), model }), 'export.json', OPTIONS);
    expect(manifest).toMatchObject({
      name: 'm',
      maxBatchSize: 4,
      answer: { kind: 'argmax', labels: ['a', 'b', 'c'] },
    });
  });

  it('takes missing values where its trees know their ways, of numbers that have NaN', () => {
    const inputOf = (inputType: 'doubles' | 'floats' | 'integers', model: object) =>
      importSklearn(JSON.stringify({ ...linear(), model }), 'e.json', { ...OPTIONS, inputType }).manifest
        .inputs[0];
    expect(inputOf('doubles', withRoutes).missing).toBe(true);
    expect(inputOf('floats', withRoutes).missing).toBe(true);
    expect(inputOf('integers', withRoutes)).not.toHaveProperty('missing');
    expect(inputOf('doubles', trees)).not.toHaveProperty('missing');
  });

  const refusals: [string, (document: Loose) => unknown, string, string][] = [
    ['of another format', (d) => (d.format = 'pmml'), 'format', "must be 'windjammer-sklearn'"],
    ['of a later version', (d) => (d.formatVersion = 3), 'formatVersion', '3 is not supported, only 1 and 2'],
    [
      'of an unknown kind',
      (d) => (d.model.kind = 'boosting'),
      'model.kind',
      '"boosting" is not supported, only linear, ',
    ],
    ['with a field too much', (d) => (d.model.bias = 1), 'model', 'bias'],
    ['with a field too little', (d) => delete d.features, 'features', 'expected'],
    [
      'with null for a weight',
      (d) => ((d.model.coefficients as unknown[][])[1][1] = null),
      'model.coefficients[1][1]',
      'expected number',
    ],
    [
      'with a short row',
      (d) => (d.model.coefficients as number[][])[2].pop(),
      'model.coefficients[2]',
      'has 1 entries, expected 2',
    ],
    [
      'with rows that miss',
      (d) => (d.model.coefficients as number[][]).pop(),
      'model.coefficients',
      'has 2 entries, expected 3',
    ],
    [
      'with intercepts that miss',
      (d) => (d.model.intercepts as number[]).pop(),
      'model.intercepts',
      'has 2 entries, expected 3',
    ],
    ['with one class', (d) => (d.classes = ['a']), 'classes', '>=2'],
    ['with a class twice', (d) => (d.classes[1] = 'a'), 'classes', "two classes are both 'a'"],
    [
      'with a short step',
      (d) => (d.steps = [{ kind: 'scale', factor: [1], offset: [1, 2] }]),
      'steps[0].factor',
      'has 1 entries, expected 2',
    ],
    [
      'with a divisor of 0',
      (d) => (d.steps = [{ kind: 'standardize', shift: [0, 0], divisor: [1, 0] }]),
      'steps[0].divisor[1]',
      'is 0',
    ],
    [
      'with a short golden input',
      (d) => d.golden[0].input.pop(),
      'golden[0].input',
      'has 1 entries, expected 2',
    ],
    ['with an unknown golden label', (d) => (d.golden[0].label = 'z'), 'golden[0].label', "no class 'z'"],
    [
      'with a tree in a circle',
      (d) => (d.model = edited(trees, (m) => (m.trees[0].left[0] = 0))),
      'model.trees[0].left[0]',
      'node 0 cannot follow node 0',
    ],
    [
      'with a tree that leaves its nodes',
      (d) => (d.model = edited(trees, (m) => (m.trees[0].right[0] = 3))),
      'model.trees[0].right[0]',
      'node 3 cannot follow node 0',
    ],
    [
      'with a feature that is not there',
      (d) => (d.model = edited(trees, (m) => (m.trees[0].feature[0] = 2))),
      'model.trees[0].feature[0]',
      'there is no feature 2',
    ],
    [
      'with leaves that miss',
      (d) => (d.model = edited(trees, (m) => m.trees[0].leafProbabilities.pop())),
      'model.trees[0].leafProbabilities',
      'has 1 entries, expected 2',
    ],
    [
      'with short thresholds',
      (d) => (d.model = edited(trees, (m) => m.trees[0].threshold.pop())),
      'model.trees[0].threshold',
      'has 2 entries, expected 3',
    ],
    [
      'with a tree whose missing values go nowhere',
      (d) => (d.model = edited(withRoutes, (m) => m.trees[0].missingLeft.pop())),
      'model.trees[0].missingLeft',
      'has 2 entries, expected 3',
    ],
    [
      'with trees of which one does not say where missing values go',
      (d) => (d.model = { ...withRoutes, trees: [...withRoutes.trees, ...trees.trees] }),
      'model.trees[0].missingLeft',
      'is missing, and other trees say',
    ],
    [
      'with a missing value among golden inputs that the model does not take',
      (d) => (d.golden[0].input = [1, null] as number[]),
      'golden[0].input[1]',
      'is null, and the model takes no missing values',
    ],
    [
      'with vectors of no class',
      (d) => (d.model = { ...vectors, vectorsOfClass: [0, 0, 0] }),
      'model.vectorsOfClass',
      'they add up to 0, there are 1 vectors',
    ],
    [
      'with a negative count',
      (d) => (d.model = { ...vectors, vectorsOfClass: [2, -1, 0] }),
      'model.vectorsOfClass[1]',
      '-1 is below 0',
    ],
    [
      'with pairs that miss',
      (d) => (d.model = { ...vectors, intercepts: [0, 0] }),
      'model.intercepts',
      'has 2 entries, expected 3',
    ],
    [
      'with another kernel',
      (d) => (d.model = { ...vectors, kernel: 'poly' }),
      'model.kernel',
      'expected one of "linear"|"rbf"',
    ],
    [
      'with layers that do not fit',
      (d) => (d.model = { ...perceptron, layers: [...perceptron.layers].reverse() }),
      'model.layers[0].weights',
      'has 1 entries, expected 2',
    ],
    [
      'with a last layer of other classes',
      (d) => (d.model = { ...perceptron, layers: perceptron.layers.slice(0, 1) }),
      'model.layers[0].biases',
      'has 1 entries, expected 3',
    ],
  ];

  it.each(refusals)('is refused %s', (_what, change, field, text) => {
    const document = linear();
    change(document);
    const error = failure(JSON.stringify(document));
    expect(error.field).toBe(field);
    expect(error.message).toContain(text);
    expect(error.message).toContain('export.json');
  });

  it.each([
    ['{', 'not JSON'],
    ['', 'not JSON'],
    ['null', "must be 'windjammer-sklearn'"],
    ['[]', "must be 'windjammer-sklearn'"],
    [JSON.stringify(linear()).replace('[1,2]', '[NaN,2]'), 'it holds NaN or Infinity'],
    [
      JSON.stringify(linear()).replace('[1,2]', '[1, -Infinity]'),
      'it holds NaN or Infinity, which no JSON does: the model has parameters',
    ],
    [
      JSON.stringify(linear()).replace('"input":[1,2]', '"input":[NaN,2]'),
      'among its golden inputs, which no JSON does: write null',
    ],
    [JSON.stringify(linear()).replace('[3,4]', '[1e999,2]'), 'model.coefficients[1][0]'],
  ])('is refused: %s', (text, problem) => {
    expect(failure(text).message).toContain(problem);
  });
});

function edited<T extends object>(value: T, change: (copy: T) => unknown): Record<string, unknown> {
  const copy = structuredClone(value);
  change(copy);
  return copy as Record<string, unknown>;
}

describe('a model folder', () => {
  it('is written over an earlier import, and over nothing else', () => {
    const folder = mkdtempSync(join(tmpdir(), 'written-'));
    try {
      const model = importSklearn(JSON.stringify(linear()), 'export.json', OPTIONS);
      const path = join(folder, 'deep', 'model');
      writeModelFolder(model, path);
      expect(writeModelFolder({ ...model, golden: undefined }, path).manifest).toEqual(model.manifest);
      mkdirSync(join(folder, 'other'));
      writeFileSync(join(folder, 'other', 'thesis.txt'), '');
      expect(() => writeModelFolder(model, join(folder, 'other'))).toThrow(
        'holds something that is no model',
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('an export as a graph', () => {
  const constant = (values: readonly number[], ...dims: number[]): object => ({ dims, type: 11, values });
  const graph = (more: object = {}): string =>
    JSON.stringify({
      format: 'windjammer-sklearn',
      formatVersion: 2,
      sklearnVersion: '1.2.1',
      name: 'm',
      estimator: 'Ridge',
      features: 2,
      takesMissing: false,
      nodes: [{ op: 'MatMul', domain: '', inputs: ['x', 'c1'], outputs: ['v1'], attributes: {} }],
      constants: { c1: constant([1, 2], 2, 1) },
      outputs: { values: 'v1' },
      golden: [],
      ...more,
    });
  const options = { inputType: 'doubles', maxBatchSize: 4 } as const;

  it('is imported', () => {
    const { manifest } = importSklearn(graph(), 'f.json', options);
    expect(manifest.answer.kind).toBe('values');
    expect(manifest.description).toBe('Ridge of scikit-learn 1.2.1');
    expect(manifest.launches).toHaveLength(1);
  });

  it.each<[string, object, string]>([
    ['a field that is missing', { features: undefined }, 'features: '],
    [
      'a constant of another length',
      { constants: { c1: constant([1], 2, 1) } },
      'constants.c1: 1 values for the shape [2, 1]',
    ],
    ['an output that nothing makes', { outputs: { values: 'v9' } }, "it reads 'v9'"],
    ['features that do not fit', { features: 3 }, 'one side takes 2 values, the other side has 3'],
    [
      'an operator that is none',
      { nodes: [{ op: 'Predict', domain: '', inputs: ['x'], outputs: ['v1'], attributes: {} }] },
      'Predict is not supported',
    ],
    [
      'other classes than scores',
      { outputs: { decisions: 'v1', scores: 'v1' }, classes: ['a', 'b'] },
      'classes: 2 classes, and 1 values',
    ],
    ['no classes', { outputs: { decisions: 'v1', scores: 'v1' } }, 'a classifier has classes'],
  ])('is refused: %s', (_what, more, text) => {
    expect(() => importSklearn(graph(more), 'f.json', options)).toThrow(text);
  });
});
