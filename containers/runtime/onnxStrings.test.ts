import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../simulator/time/index.js';
import { importOnnx, writeModelFolder } from '../models/index.js';
import { FrontendDouble } from './tests/frontendDouble.js';
import { onnxFile, type ModelSpec, type NodeSpec } from '../models/testing/index.js';
import { VirtualNode } from './virtualNode.js';

const STRING = 8;
const UTF8 = new TextEncoder();

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'strings-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function imported(spec: ModelSpec) {
  return importOnnx(onnxFile(spec), 'model.onnx', { name: 'model', maxBatchSize: 4, answersValues: true });
}

function answers(spec: ModelSpec, rows: readonly (readonly unknown[])[]): string[] {
  const path = writeModelFolder(imported(spec), join(folder, 'model')).folder;
  const clock = new VirtualClock();
  const node = new VirtualNode({ clock });
  const frontend = new FrontendDouble(
    node.start({ model: 'm', version: '1', replica: '0', inputType: 'strings', path }),
  );
  clock.run();
  const id = frontend.ask(rows.map((row) => UTF8.encode(JSON.stringify(row))));
  clock.run();
  node.close(() => undefined);
  return frontend.outcomes(id);
}

const ml = (
  op: string,
  inputs: string[],
  output: string,
  attributes: NodeSpec['attributes'] = {},
): NodeSpec => ({
  op,
  domain: 'ai.onnx.ml',
  inputs,
  output,
  attributes,
});

/** Two columns of strings in one input beside a number, as skl2onnx writes a ColumnTransformer. */
const TABLE: ModelSpec = {
  inputs: { colour: ['N', 1], age: ['N', 1], size: ['N', 1] },
  inputElements: { colour: STRING, size: STRING },
  initializers: {
    first: { dims: [1], values: [0], isInteger: true },
    second: { dims: [1], values: [1], isInteger: true },
  },
  nodes: [
    { op: 'Concat', inputs: ['colour', 'size'], output: 'texts', attributes: { axis: 1 } },
    ml('ArrayFeatureExtractor', ['texts', 'first'], 'colours'),
    { op: 'Gather', inputs: ['texts', 'second'], output: 'sizes', attributes: { axis: 1 } },
    ml('OneHotEncoder', ['colours'], 'hot', { cats_strings: { texts: ['red', 'blau', 'très vert'] } }),
    { op: 'Flatten', inputs: ['hot'], output: 'flat' },
    ml('LabelEncoder', ['sizes'], 'numbers', {
      keys_strings: { texts: ['S', 'M', 'L'] },
      values_floats: { floats: [1.5, 2.5, 4] },
      default_float: { float: -1 },
    }),
    { op: 'Concat', inputs: ['flat', 'numbers', 'age'], output: 'y', attributes: { axis: 1 } },
  ],
};

describe('ONNX models of strings', () => {
  it('take rows of strings and numbers', () => {
    const { manifest } = imported(TABLE);
    expect(manifest.inputs[0]).toMatchObject({
      type: 'strings',
      encoding: { columns: ['colour', 'age', 'size'] },
      tensors: [
        { name: 'colour', datatype: 'BYTES', shape: [1] },
        { name: 'age', datatype: 'FP32', shape: [1] },
        { name: 'size', datatype: 'BYTES', shape: [1] },
      ],
    });
    const rows = [
      ['red', 33, 'L'],
      ['très vert', -0.5, 'S'],
      ['mauve', 0, 'XXL'],
    ];
    expect(answers(TABLE, rows).map((text) => JSON.parse(text) as unknown)).toEqual([
      [1, 0, 0, 4, 33],
      [0, 0, 1, 1.5, -0.5],
      [0, 0, 0, -1, 0],
    ]);
  });

  it('map categories to numbers, and labels to other labels', () => {
    const one = { inputs: { x: ['N', 1] }, inputElement: STRING } as const;
    const categories = { cats_strings: { texts: ['a', 'b'] }, cats_int64s: [7, 9], default_int64: 3 };
    expect(
      answers({ ...one, nodes: [ml('CategoryMapper', ['x'], 'y', categories)] }, [['b'], ['a'], ['c']]),
    ).toEqual(['[9]', '[7]', '[3]']);
    rmSync(join(folder, 'model'), { recursive: true });
    const names = {
      keys_strings: { texts: ['a', 'b'] },
      values_strings: { texts: ['ape', 'bee'] },
      default_string: 'none',
    };
    expect(
      answers({ ...one, nodes: [ml('LabelEncoder', ['x'], 'y', names)] }, [['b'], ['z'], ['a']]),
    ).toEqual(['bee', 'none', 'ape']);
  });

  it('make labels of whole numbers', () => {
    const spec: ModelSpec = {
      nodes: [
        { op: 'ArgMax', inputs: ['x'], output: 'place', attributes: { axis: 1 } },
        ml('CategoryMapper', ['place'], 'y', {
          cats_strings: { texts: ['ape', 'bee'] },
          cats_int64s: [2, 0],
        }),
      ],
    };
    const { manifest } = imported(spec);
    expect(manifest.answer).toMatchObject({ kind: 'label', labels: ['ape', 'bee', '_Unused'] });
  });

  it.each<[string, NodeSpec[], string]>([
    [
      'arithmetic',
      [{ op: 'Add', inputs: ['x', 'x'], output: 'y' }],
      "node 0 (Add 'y'): input 0 holds strings of the query, which OneHotEncoder, LabelEncoder and CategoryMapper of ai.onnx.ml make numbers of: encode them before",
    ],
    [
      'a query that is answered as it came',
      [{ op: 'Identity', inputs: ['x'], output: 'y' }],
      'it is strings of the query',
    ],
    [
      'categories that are numbers',
      [ml('OneHotEncoder', ['x'], 'y', { cats_int64s: [1, 2] })],
      'it has no categories that are strings, as input 0 is (ai.onnx.ml)',
    ],
    [
      'an operator that is not there',
      [{ op: 'StringNormalizer', inputs: ['x'], output: 'y' }],
      'StringNormalizer is not supported',
    ],
  ])('refuse %s', (_what, nodes, problem) => {
    expect(() => imported({ inputs: { x: ['N', 2] }, inputElement: STRING, nodes })).toThrow(problem);
  });
});
