import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../simulator/time/index.js';
import { importOnnx, writeModelFolder } from '../models/index.js';
import { FrontendDouble, floats } from './tests/frontendDouble.js';
import { onnxFile, type ModelSpec, type NodeSpec } from '../models/testing/index.js';
import { VirtualNode } from './virtualNode.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'classifiers-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Answer {
  readonly label: string;
  readonly scores: readonly number[];
}

function answers(spec: ModelSpec, inputs: readonly (readonly number[])[]): Answer[] {
  const model = importOnnx(onnxFile(spec), 'model.onnx', { name: 'model', maxBatchSize: 4 });
  const path = writeModelFolder(model, join(folder, 'model')).folder;
  const clock = new VirtualClock();
  const node = new VirtualNode({ clock });
  const frontend = new FrontendDouble(
    node.start({ model: 'm', version: '1', replica: '0', inputType: 'floats', path }),
  );
  clock.run();
  const id = frontend.ask(inputs.map((input) => floats(...input)));
  clock.run();
  node.close(() => undefined);
  return (frontend.result(id)?.results ?? []).map((result) => {
    if (!result.ok) throw new Error(result.message);
    return { label: result.output, scores: Array.from(result.scores ?? []) };
  });
}

const logistic = (x: number): number => 1 / (1 + Math.exp(-x));

/** Two trees of one question each: x[0] <= 0.5, and x[1] < -0.5, where what is missing goes to the left. */
function trees(attributes: NodeSpec['attributes']): ModelSpec {
  const node: NodeSpec = {
    op: 'TreeEnsembleClassifier',
    domain: 'ai.onnx.ml',
    inputs: ['x'],
    output: 'label',
    moreOutputs: ['scores'],
    attributes: {
      nodes_treeids: [0, 0, 0, 1, 1, 1],
      nodes_nodeids: [0, 1, 2, 0, 1, 2],
      nodes_featureids: [0, 0, 0, 1, 0, 0],
      nodes_modes: { texts: ['BRANCH_LEQ', 'LEAF', 'LEAF', 'BRANCH_LT', 'LEAF', 'LEAF'] },
      nodes_values: { floats: [0.5, 0, 0, -0.5, 0, 0] },
      nodes_truenodeids: [1, 0, 0, 1, 0, 0],
      nodes_falsenodeids: [2, 0, 0, 2, 0, 0],
      class_treeids: [0, 0, 1, 1],
      class_nodeids: [1, 2, 1, 2],
      ...attributes,
    },
  };
  return { inputs: { x: ['N', 2] }, nodes: [node], outputs: ['label', 'scores'] };
}

const INPUTS = [
  [0.5, -0.5],
  [0.6, -0.6],
  [0.4, 3],
];

describe('classifiers of ai.onnx.ml answer as ONNX Runtime does', () => {
  it('trees that vote for three classes by name', () => {
    const spec = trees({
      class_ids: [0, 1, 2, 0],
      class_weights: { floats: [0.5, 1.5, 0.75, 0.25] },
      classlabels_strings: { texts: ['ape', 'bee', 'cat'] },
    });
    expect(answers(spec, INPUTS)).toEqual([
      { label: 'ape', scores: [0.75, 0, 0] },
      { label: 'bee', scores: [0, 1.5, 0.75] },
      { label: 'ape', scores: [0.75, 0, 0] },
    ]);
  });

  it('trees with one score for two classes, whose labels are any numbers', () => {
    const spec = trees({
      class_ids: [0, 0, 0, 0],
      class_weights: { floats: [-1, 2, 0.5, -0.25] },
      classlabels_int64s: [5, 9],
      base_values: { floats: [0.25] },
      post_transform: 'LOGISTIC',
    });
    const sums = [-1, 2.75, -1];
    answers(spec, INPUTS).forEach(({ label, scores }, row) => {
      expect(label).toBe(sums[row] > 0 ? '9' : '5');
      expect(scores[1]).toBeCloseTo(logistic(sums[row]), 6);
      expect(scores[0]).toBeCloseTo(logistic(-sums[row]), 6);
    });
  });

  it('trees whose votes are shares: the second class from a half on', () => {
    const spec = trees({
      class_ids: [0, 0, 0, 0],
      class_weights: { floats: [0.125, 0.5, 0.25, 0.0625] },
      classlabels_int64s: [0, 1],
    });
    expect(answers(spec, INPUTS)).toEqual([
      { label: '0', scores: [0.8125, 0.1875] },
      { label: '1', scores: [0.25, 0.75] },
      { label: '0', scores: [0.8125, 0.1875] },
    ]);
  });

  it('a linear one, its scores put into a map, behind a scaler', () => {
    const nodes: NodeSpec[] = [
      {
        op: 'Scaler',
        domain: 'ai.onnx.ml',
        inputs: ['x'],
        output: 's',
        attributes: { offset: { floats: [1, 0] }, scale: { floats: [2, 1] } },
      },
      {
        op: 'LinearClassifier',
        domain: 'ai.onnx.ml',
        inputs: ['s'],
        output: 'label',
        moreOutputs: ['p'],
        attributes: {
          coefficients: { floats: [1, 0, 0, 1, 1, 1] },
          intercepts: { floats: [0, 0.5, -4] },
          classlabels_strings: { texts: ['a', 'b', 'c'] },
          post_transform: 'LOGISTIC',
        },
      },
      { op: 'ZipMap', domain: 'ai.onnx.ml', inputs: ['p'], output: 'map' },
    ];
    const spec: ModelSpec = { inputs: { x: ['N', 2] }, nodes, outputs: ['label', 'map'] };
    const [{ label, scores }] = answers(spec, [[2, 1]]);
    expect(label).toBe('a');
    [2, 1.5, -1].forEach((sum, k) => expect(scores[k]).toBeCloseTo(logistic(sum), 6));
  });

  it.each<[string, NodeSpec['attributes'], string]>([
    ['a vote of no node', { class_nodeids: [1, 2, 1, 7] }, 'a vote of node 7 of tree 1, which is not there'],
    ['a way to no node', { nodes_truenodeids: [9, 0, 0, 1, 0, 0] }, 'there is no node -1'],
    ['another feature', { nodes_featureids: [4, 0, 0, 1, 0, 0] }, 'asks for feature 4, there are 2'],
    ['lists of other lengths', { nodes_values: { floats: [1] } }, 'its lists of nodes differ in length'],
    ['PROBIT', { post_transform: 'PROBIT' }, 'post_transform PROBIT is not supported'],
    ['no labels', { classlabels_int64s: [] }, 'it has no labels'],
  ])('and %s is refused', (_what, bad, text) => {
    const spec = trees({
      class_ids: [0, 0, 0, 0],
      class_weights: { floats: [1, 1, 1, 1] },
      classlabels_int64s: [0, 1],
      ...bad,
    });
    expect(() => importOnnx(onnxFile(spec), 'm', { name: 'm', maxBatchSize: 4 })).toThrow(text);
  });
});
