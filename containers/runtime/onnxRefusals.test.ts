import { describe, expect, it } from 'vitest';
import { ModelError, importOnnx, type OnnxImportOptions } from '../models/index.js';
import { message, onnxFile, tensorFields, type ModelSpec, type NodeSpec } from './tests/onnxWriter.js';
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
  const image = { x: ['N', 2, 5, 5] };
  const filter = { w: tensor(3, 2, 3, 3) };

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
      one({ op: 'LSTM', inputs: ['x', 'w'], name: 'memory' }),
      'importUnsupported',
      "model.onnx: node 0 (LSTM 'memory'): LSTM is not supported, only Gemm, MatMul, Add",
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
      'its result has the shape [0] and no value',
    ],
    ['an unknown value', one({ op: 'Relu', inputs: ['z'] }), 'importInvalid', "node 0: it reads 'z'"],
    [
      'weights of another length',
      one({ op: 'MatMul', inputs: ['x', 'w'] }, { inputs: { x: ['N', 5] } }),
      'importInvalid',
      'takes 4 values, the other side has 5',
    ],
    [
      'weights that depend on the query',
      one({ op: 'MatMul', inputs: ['x', 'x'] }),
      'importUnsupported',
      'only a constant is supported',
    ],
    [
      'transA',
      one({ op: 'Gemm', inputs: ['x', 'w'], attributes: { transA: 1 } }),
      'importUnsupported',
      'transA=1',
    ],
    [
      'groups',
      one(
        { op: 'Conv', inputs: ['x', 'w'], attributes: { group: 2 } },
        { inputs: image, initializers: filter },
      ),
      'importUnsupported',
      'group other than 1',
    ],
    [
      'dilations',
      one(
        { op: 'Conv', inputs: ['x', 'w'], attributes: { dilations: [2, 1] } },
        { inputs: image, initializers: filter },
      ),
      'importUnsupported',
      'dilations other than 1',
    ],
    [
      'a window larger than the image',
      one({ op: 'MaxPool', inputs: ['x'], attributes: { kernel_shape: [9, 1] } }, { inputs: image }),
      'importInvalid',
      'a window of 9 does not fit into 5 pixels',
    ],
    [
      'a convolution in one dimension',
      one({ op: 'Conv', inputs: ['x', 'w'] }, { inputs: { x: ['N', 2, 5] } }),
      'importUnsupported',
      'only [channels, height, width]',
    ],
    [
      'a softmax over the batch',
      one({ op: 'Softmax', inputs: ['x'], attributes: { axis: 0 } }),
      'importUnsupported',
      'axis 0 of 2 would mix',
    ],
    [
      'a softmax over channels',
      one({ op: 'Softmax', inputs: ['x'], attributes: { axis: 1 } }, { inputs: image }),
      'importUnsupported',
      'axis 1 is not the last one',
    ],
    [
      'a flatten over the batch',
      one({ op: 'Flatten', inputs: ['x'], attributes: { axis: 0 } }),
      'importUnsupported',
      'axis 0 would mix',
    ],
    [
      'a reshape of the batch',
      one(
        { op: 'Reshape', inputs: ['x', 's'] },
        { initializers: { s: { dims: [2], values: [4, -1], isInteger: true } } },
      ),
      'importUnsupported',
      'must keep the batch',
    ],
    [
      'a reshape that does not fit',
      one(
        { op: 'Reshape', inputs: ['x', 's'] },
        { initializers: { s: { dims: [2], values: [-1, 3], isInteger: true } } },
      ),
      'importUnsupported',
      '[4] cannot become [3]',
    ],
    [
      'a sum that does not fit',
      one({ op: 'Add', inputs: ['x', 'w'] }, { initializers: { w: tensor(1, 3) } }),
      'importUnsupported',
      "[1, 3] cannot be added to a query's [4]",
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
    [
      'two inputs',
      { ...spec, inputs: { x: ['N', 4], z: ['N', 4] } },
      'importUnsupported',
      "takes 2 inputs ('x', 'z')",
    ],
    ['two outputs', { ...spec, outputs: ['y', 'z'] }, 'importUnsupported', "has 2 outputs ('y', 'z')"],
    [
      'an output that is the input',
      { ...spec, outputs: ['x'] },
      'importUnsupported',
      'no result of the input',
    ],
    [
      'inputs that are no floats',
      { ...spec, inputElement: 7 },
      'importUnsupported',
      'it takes int64, only float',
    ],
    [
      'an open shape',
      { ...spec, inputs: { x: ['N', 'width'] } },
      'importUnsupported',
      "graph.input 'x': the shape of one query, [width], is open: say it with --input-shape",
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
      'half precision in a list',
      {
        ...spec,
        more: [
          [
            5,
            [
              [1, 1],
              [2, 10],
              [8, 'h'],
              [5, 15_360],
            ],
          ],
        ],
      },
      'importUnsupported',
      "initializer 'h': holds float16",
    ],
    [
      'half precision',
      {
        ...spec,
        more: [
          [
            5,
            [
              [1, 2],
              [2, 10],
              [8, 'h'],
              [9, new Uint8Array(4)],
            ],
          ],
        ],
      },
      'importUnsupported',
      "initializer 'h': holds float16",
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
