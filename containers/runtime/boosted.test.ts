import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import { importBoosted, writeModelFolder, type BoostedLibrary } from '../models/index.js';
import { FrontendDouble } from './tests/frontendDouble.js';
import { tryModel } from './trial/index.js';
import { VirtualNode } from './virtualNode.js';

/** Models that tests/fitBoosted.py has written there, with what their libraries answer. */
const FOLDER = join(packageRoot(), 'containers/models/import/tests/boosted');

interface Case {
  readonly model: Record<string, unknown>;
  readonly inputs: readonly (readonly (number | null)[])[];
  readonly answers: readonly (number | readonly number[])[];
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'boosted-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const OPTIONS = { name: 'model', inputType: 'doubles', maxBatchSize: 16 } as const;
const caseOf = (file: string): Case => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Case;
const libraryOf = (file: string): BoostedLibrary => file.split('-')[0] as BoostedLibrary;

describe('boosted trees answer as their library does, missing values among their inputs', () => {
  const files = readdirSync(FOLDER).sort();

  it('of both libraries, with two classes, three, and none', () => {
    expect(files).toHaveLength(9);
  });

  it.each(files)('%s', (file) => {
    const { model, inputs, answers } = caseOf(file);
    expect(inputs.flat()).toContain(null);
    const imported = importBoosted(libraryOf(file), JSON.stringify(model), file, OPTIONS);
    const path = writeModelFolder(imported, join(folder, 'model')).folder;
    expect(tryModel(path).problem).toBeUndefined();
    const clock = new VirtualClock();
    const node = new VirtualNode({ clock });
    const frontend = new FrontendDouble(
      node.start({ model: 'm', version: '1', replica: '0', inputType: 'doubles', path }),
    );
    clock.run();
    const id = frontend.ask(
      inputs.map((row) => new Uint8Array(Float64Array.from(row, (value) => value ?? NaN).buffer)),
    );
    clock.run();
    node.close(() => undefined);
    const results = frontend.result(id)?.results ?? [];
    expect(results).toHaveLength(answers.length);
    results.forEach((result, row) => {
      if (!result.ok) throw new Error(result.message);
      const answer = answers[row];
      const expected = typeof answer === 'number' ? [answer] : answer;
      // A library answers the probability of the second of two classes alone.
      const given =
        result.scores === undefined ? (JSON.parse(result.output) as number[]) : Array.from(result.scores);
      const own = given.length === 2 && expected.length === 1 ? given.slice(1) : given;
      own.forEach((value, k) => expect(value).toBeCloseTo(expected[k], 5));
      if (given.length > 1) expect(Number(result.output)).toBe(given.indexOf(Math.max(...given)));
    });
  });
});

describe('a boosted model that cannot be imported', () => {
  const refuse = (library: BoostedLibrary, model: unknown): string => {
    try {
      importBoosted(library, typeof model === 'string' ? model : JSON.stringify(model), 'm.json', OPTIONS);
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('it was imported');
  };
  const xgboost = caseOf('xgboost-binary.json').model as { learner: Record<string, Record<string, unknown>> };
  const lightgbm = caseOf('lightgbm-binary.json').model;
  const trees = (change: (tree: Record<string, unknown>) => object): object => {
    const { model } = xgboost.learner.gradient_booster as { model: { trees: Record<string, unknown>[] } };
    const changed = { ...model, trees: [change(model.trees[0]), ...model.trees.slice(1)] };
    return {
      ...xgboost,
      learner: { ...xgboost.learner, gradient_booster: { name: 'gbtree', model: changed } },
    };
  };

  it.each<[string, BoostedLibrary, unknown, string]>([
    ['no JSON', 'xgboost', 'binf', 'not JSON'],
    ['another library', 'xgboost', lightgbm, 'version: '],
    ['the other', 'lightgbm', xgboost, 'version: '],
    [
      'an objective',
      'xgboost',
      { ...xgboost, learner: { ...xgboost.learner, objective: { name: 'survival:aft' } } },
      "learner.objective.name: 'survival:aft' is not supported, only binary:logistic",
    ],
    [
      'an objective without a way',
      'lightgbm',
      { ...lightgbm, objective: 'multiclassova num_class:3' },
      'or serve the model as it is, as a Python module',
    ],
    [
      'leaves that are linear models',
      'lightgbm',
      {
        ...lightgbm,
        tree_info: [
          { tree_structure: { leaf_value: 1, leaf_const: 1, leaf_features: [0], leaf_coeff: [2] } },
        ],
      },
      'its leaves are linear models (linear_tree)',
    ],
    [
      'no trees',
      'xgboost',
      { ...xgboost, learner: { ...xgboost.learner, gradient_booster: { name: 'gblinear' } } },
      'gblinear has no trees',
    ],
    [
      'categories',
      'xgboost',
      trees((tree) => ({ ...tree, split_type: [1, 0, 0] })),
      'categorical splits are not supported',
    ],
    [
      'a cycle',
      'xgboost',
      trees((tree) => ({
        ...tree,
        left_children: (tree.left_children as number[]).map((child, k) => (k === 0 ? 0 : child)),
      })),
      'is reached twice',
    ],
    [
      'a node that is not there',
      'xgboost',
      trees((tree) => ({
        ...tree,
        right_children: (tree.right_children as number[]).map((child, k) => (k === 0 ? 1e6 : child)),
      })),
      'there is no node',
    ],
    [
      'a feature that is not there',
      'xgboost',
      trees((tree) => ({ ...tree, split_indices: (tree.split_indices as number[]).map(() => 99) })),
      'asks for feature 99, there are 4',
    ],
    [
      'lists of other lengths',
      'xgboost',
      trees((tree) => ({ ...tree, split_conditions: [] })),
      'its lists of nodes differ in length',
    ],
    [
      'another objective',
      'lightgbm',
      { ...lightgbm, objective: 'custom' },
      "objective: 'custom' is not supported",
    ],
    [
      'a tree that is none',
      'lightgbm',
      { ...lightgbm, tree_info: [{ tree_structure: { split_feature: 1 } }] },
      'tree_info[0]: ',
    ],
  ])('%s', (_what, library, model, text) => {
    expect(refuse(library, model)).toContain(text);
  });
});
