import { describe, expect, it } from 'vitest';
import { ModelError, importOnnx, type OnnxImportOptions } from '../models/index.js';
import { message, onnxFile, tensorFields, type ModelSpec, type NodeSpec } from '../models/testing/index.js';
import { tensor } from './tests/seededTensors.js';

describe('a file that cannot be imported', () => {
  const w = tensor(4, 3);
  const nodes: NodeSpec[] = [{ op: 'MatMul', inputs: ['x', 'w'], output: 'y' }];
  const spec: ModelSpec = { initializers: { w }, nodes };
  const one = (node: Omit<NodeSpec, 'output'>, more: Partial<ModelSpec> = {}): ModelSpec => ({
    ...spec,
    ...more,
    nodes: [{ ...node, output: 'y' }],
  });
  /** A constant of one value that an operator makes large, added to the input. */
  const widened = (op: string, extents: readonly number[]): ModelSpec => ({
    ...spec,
    initializers: {
      w: { dims: [1], values: [1] },
      extents: { dims: [extents.length], values: [...extents], isInteger: true },
    },
    nodes: [
      { op, inputs: ['w', 'extents'], output: 'wide' },
      { op: 'Add', inputs: ['x', 'wide'], output: 'y' },
    ],
  });
  const image = { x: ['N', 2, 5, 5] };
  const filter = { w: tensor(3, 2, 3, 3) };

  /** Each value twice the one before. */
  function doubled(times: number): NodeSpec[] {
    return Array.from({ length: times }, (_, k) => ({
      op: 'Concat',
      inputs: [`v${k}`, `v${k}`],
      output: `v${k + 1}`,
      attributes: { axis: 0 },
    }));
  }

  function failure(bytes: Uint8Array, options: Partial<OnnxImportOptions> = {}): ModelError {
    try {
      importOnnx(bytes, 'model.onnx', { name: 'model', maxBatchSize: 4, ...options });
    } catch (error) {
      if (error instanceof ModelError) return error;
      throw error;
    }
    throw new Error('the model was imported');
  }

  const refusals: [string, ModelSpec, ModelError['code'], string][] = [
    [
      'an operator that is not supported',
      one({ op: 'NonZero', inputs: ['x', 'w'], name: 'places' }),
      'importUnsupported',
      "model.onnx: node 0 (NonZero 'places'): NonZero is not supported: write it with operators that are",
    ],
    [
      'an operator of another domain',
      one({ op: 'Gemm', inputs: ['x', 'w'], domain: 'com.example' }),
      'importUnsupported',
      'com.example.Gemm is not supported',
    ],
    [
      'an operator named like a property',
      one({ op: 'constructor', inputs: ['x'] }),
      'importUnsupported',
      'constructor is not',
    ],
    [
      'a value that is made twice',
      { ...spec, nodes: [...nodes, { op: 'Relu', inputs: ['x'], output: 'y' }] },
      'importInvalid',
      "'y' is made twice",
    ],
    [
      'a layer without outputs',
      { ...spec, initializers: { w: { dims: [4, 0], values: [] } } },
      'importInvalid',
      'its result has the shape [1, 0] and no value',
    ],
    ['an unknown value', one({ op: 'Relu', inputs: ['z'] }), 'importInvalid', "node 0: it reads 'z'"],
    [
      'a constant that a few bytes make large',
      widened('Expand', [2 ** 30, 2 ** 30]),
      'importUnsupported',
      `${2 ** 60} values are too many`,
    ],
    [
      'a constant that is repeated',
      widened('Tile', [2 ** 27]),
      'importUnsupported',
      `${2 ** 27} values are too many`,
    ],
    [
      'a shape that doubles',
      {
        ...spec,
        initializers: {},
        nodes: [
          { op: 'Shape', inputs: ['x'], output: 'v0' },
          ...doubled(40),
          { op: 'ConstantOfShape', inputs: ['v40'], output: 'wide' },
          { op: 'Add', inputs: ['x', 'wide'], output: 'y' },
        ],
      },
      'importUnsupported',
      'values are too many',
    ],
    [
      'a table of two constants',
      {
        ...spec,
        initializers: {
          row: { dims: [1, 10_000], values: new Array<number>(10_000).fill(1) },
          column: { dims: [10_000, 1], values: new Array<number>(10_000).fill(1) },
        },
        nodes: [
          { op: 'Add', inputs: ['row', 'column'], output: 'wide' },
          { op: 'Add', inputs: ['x', 'wide'], output: 'y' },
        ],
      },
      'importUnsupported',
      '100000000 values are too many',
    ],
    [
      'an image that becomes enormous',
      {
        inputs: image,
        initializers: { scales: { dims: [4], values: [1, 1, 1e6, 1e6] } },
        nodes: [{ op: 'Resize', inputs: ['x', '', 'scales'], output: 'y' }],
      },
      'importInvalid',
      'axis 2 becomes 5000000 elements',
    ],
    [
      'weights of another length',
      one({ op: 'MatMul', inputs: ['x', 'w'] }, { inputs: { x: ['N', 5] } }),
      'importInvalid',
      'takes 4 values, the other side has 5',
    ],
    [
      'sums over the batch',
      one({ op: 'ReduceSum', inputs: ['x'], attributes: { axes: [0] } }),
      'importUnsupported',
      'axis 0 of 2 would mix the queries of a batch (operator set 13): export the model with the batch as the first extent',
    ],
    [
      'weights that have the batch',
      one({ op: 'Gemm', inputs: ['x', 'x'], attributes: { transA: 1 } }),
      'importUnsupported',
      'would mix the queries of a batch',
    ],
    [
      'groups that do not go into the channels',
      one(
        { op: 'Conv', inputs: ['x', 'w'], attributes: { group: 2 } },
        { inputs: image, initializers: filter },
      ),
      'importInvalid',
      'W takes 2 channels in each of 2 groups, X has 2',
    ],
    [
      'dilations of 0',
      one(
        { op: 'Conv', inputs: ['x', 'w'], attributes: { dilations: [0, 1] } },
        { inputs: image, initializers: filter },
      ),
      'importInvalid',
      'kernel_shape, strides and dilations must be 1 or more',
    ],
    [
      'bounds that depend on the query',
      one({ op: 'Slice', inputs: ['x', 'x', 'x'] }),
      'importUnsupported',
      "input 1 ('x') depends on the query, only a constant is supported (operator set 13)",
    ],
    [
      'an operator set to come',
      { ...spec, opset: 99 },
      'importUnsupported',
      'operator set 99 is newer than 25: export the model with an older one',
    ],
    [
      'an operator set of long ago',
      { ...one({ op: 'Add', inputs: ['x', 'x'] }), opset: 6 },
      'importUnsupported',
      'operator set 6 is older than 7: convert the model',
    ],
    [
      'a window larger than the image',
      one({ op: 'MaxPool', inputs: ['x'], attributes: { kernel_shape: [9, 1] } }, { inputs: image }),
      'importInvalid',
      'a window of 9 does not fit into 5 pixels',
    ],
    [
      'a convolution without pixels',
      one({ op: 'Conv', inputs: ['x', 'w'] }, { inputs: { x: ['N', 2] } }),
      'importUnsupported',
      'only [batch, channels, and one to three more] is supported',
    ],
    [
      'a convolution of other dimensions',
      one({ op: 'Conv', inputs: ['x', 'w'] }, { inputs: { x: ['N', 2, 5] }, initializers: filter }),
      'importInvalid',
      'W has the shape [3, 2, 3, 3], X has 1 dimensions of pixels',
    ],
    [
      'a softmax over the batch',
      one({ op: 'Softmax', inputs: ['x'], attributes: { axis: 0 } }),
      'importUnsupported',
      'axis 0 of 2 would mix',
    ],
    [
      'a flatten over the batch',
      one({ op: 'Flatten', inputs: ['x'], attributes: { axis: 0 } }),
      'importUnsupported',
      'the batch lies along axis 1: putting answers together would mix',
    ],
    [
      'a reshape of the batch',
      one(
        { op: 'Reshape', inputs: ['x', 's'] },
        { initializers: { s: { dims: [2], values: [4, -1], isInteger: true } } },
      ),
      'importUnsupported',
      '[batch, 4] made [4, -1] would mix the queries of a batch',
    ],
    [
      'a reshape that does not fit',
      one(
        { op: 'Reshape', inputs: ['x', 's'] },
        { initializers: { s: { dims: [2], values: [-1, 3], isInteger: true } } },
      ),
      'importUnsupported',
      '[batch, 4] made [-1, 3] would mix',
    ],
    [
      'a sum that does not fit',
      one({ op: 'Add', inputs: ['x', 'w'] }, { initializers: { w: tensor(1, 3) } }),
      'importInvalid',
      'the shapes [1, 4] and [1, 3] do not go together',
    ],
    [
      'NaN weights',
      one(
        { op: 'MatMul', inputs: ['x', 'w'] },
        { initializers: { w: { dims: [4, 1], values: [1, NaN, 1, 1] } } },
      ),
      'importInvalid',
      "initializer 'w': value 1 is NaN",
    ],
    [
      'weights of another size than their shape',
      one({ op: 'MatMul', inputs: ['x', 'w'] }, { initializers: { w: { dims: [4, 3], values: [1, 2] } } }),
      'importInvalid',
      '2 values for the shape [4, 3]',
    ],
    ['an output that nothing makes', { ...spec, outputs: ['y', 'z'] }, 'importInvalid', "it reads 'z'"],
    [
      'an output that is a constant',
      { ...spec, outputs: ['w'] },
      'importUnsupported',
      "graph.output 'w': it is no result of the input",
    ],
    ['no input', { ...spec, inputs: {} }, 'importUnsupported', 'the model takes no input'],
    [
      'inputs that are no numbers',
      { ...spec, inputElement: 8 },
      'importUnsupported',
      'input 0 holds strings of the query',
    ],
    [
      'inputs of another type than the weights',
      { ...spec, inputElement: 11 },
      'importInvalid',
      'its inputs are double and float: cast one of them',
    ],
    [
      'a cycle',
      {
        ...spec,
        nodes: [
          { op: 'Add', inputs: ['x', 'b'], output: 'a' },
          { op: 'Relu', inputs: ['a'], output: 'b' },
        ],
        outputs: ['b'],
      },
      'importInvalid',
      "node 0: it reads 'b', which no node before it makes",
    ],
    [
      'an open shape',
      { ...spec, inputs: { x: ['N', 'width'] } },
      'importUnsupported',
      "graph.input 'x': the shape of one query, [width], is open: say the shape of one query with --input-shape",
    ],
    ['sparse weights', { ...spec, more: [[15, []]] }, 'importUnsupported', 'store the weights dense'],
    [
      'external data',
      {
        ...spec,
        more: [
          [
            5,
            [
              ...tensorFields('e', w),
              [
                13,
                [
                  [1, 'location'],
                  [2, 'weights.data'],
                ],
              ],
              [14, 1],
            ],
          ],
        ],
      },
      'importUnsupported',
      "initializer 'e': its data lies in 'weights.data': import the file from its folder",
    ],
    [
      'complex numbers',
      {
        ...spec,
        more: [
          [
            5,
            [
              [1, 2],
              [2, 14],
              [8, 'h'],
              [9, new Uint8Array(16)],
            ],
          ],
        ],
      },
      'importUnsupported',
      "initializer 'h': holds complex64",
    ],
  ];

  it.each(refusals)('%s', (_what, bad, code, text) => {
    const error = failure(onnxFile(bad));
    expect(error.message).toContain(text);
    expect(error.code).toBe(code);
  });

  it('takes the shape of one query from the options, unless the file says otherwise', () => {
    const open = onnxFile({ ...spec, inputs: { x: ['N', 'width'] } });
    expect(
      importOnnx(open, 'f', { name: 'm', maxBatchSize: 1, inputShape: [4] }).manifest.inputs[0].shape,
    ).toEqual([4]);
    expect(failure(onnxFile(spec), { inputShape: [5] }).message).toContain(
      '--input-shape 5 contradicts the file',
    );
    expect(failure(onnxFile(spec), { labels: ['a'] }).message).toContain('1 labels for the 3 values');
  });

  it('cut off anywhere, or with a changed byte, is refused or imported, and never anything else', () => {
    const whole = onnxFile(spec);
    // The last four bytes are the operator set, without which the file is whole.
    for (let length = 0; length < whole.length - 4; length++) {
      expect(failure(whole.subarray(0, length)).code).toBe('importInvalid');
    }
    for (let at = 0; at < whole.length; at++) {
      for (const change of [1, 0x80, 0xff]) {
        const changed = whole.slice();
        changed[at] ^= change;
        try {
          importOnnx(changed, 'model.onnx', { name: 'model', maxBatchSize: 4 });
        } catch (error) {
          expect(error).toBeInstanceOf(ModelError);
        }
      }
    }
  });

  it('is too large', () => {
    const relu = (extent: number): Uint8Array =>
      onnxFile({ inputs: { x: ['N', extent] }, nodes: [{ op: 'Relu', inputs: ['x'], output: 'y' }] });
    expect(failure(relu(2 ** 30)).message).toContain('1073741824 values of one query are more than 67108864');
    expect(failure(relu(70_000)).message).toContain('70000 values are too many for labels');
  });

  it('is no ONNX file at all', () => {
    expect(failure(new TextEncoder().encode('{"hello": 1}')).code).toBe('importInvalid');
    expect(failure(new Uint8Array(0)).message).toContain('graph: there is none');
    expect(failure(message([[1, 8]])).message).toContain('graph: there is none');
  });
});
