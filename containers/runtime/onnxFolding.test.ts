import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../simulator/time/index.js';
import { importOnnx, loadKernelModel, ModelError, writeModelFolder } from '../models/index.js';
import { VirtualNode } from './virtualNode.js';
import { FrontendDouble, floats } from './tests/frontendDouble.js';
import { convolution, dense, relu } from './tests/layerReference.js';
import {
  onnxFile,
  type Field,
  type ModelSpec,
  type NodeSpec,
  type TensorSpec,
} from '../models/testing/index.js';
import { draws, tensor } from './tests/seededTensors.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'onnx-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const OPTIONS = { name: 'model', maxBatchSize: 4, answersValues: true };

function imported(spec: ModelSpec): string {
  const model = importOnnx(onnxFile(spec), 'model.onnx', { ...OPTIONS, folder });
  return writeModelFolder(model, join(folder, 'model')).folder;
}

function answers(spec: ModelSpec, inputs: readonly Float32Array[]): number[][] {
  const path = imported(spec);
  const clock = new VirtualClock();
  const node = new VirtualNode({ clock });
  const frontend = new FrontendDouble(
    node.start({ model: 'm', version: '1', replica: '0', inputType: 'floats', path }),
  );
  clock.run();
  const id = frontend.ask(inputs.map((input) => floats(...input)));
  clock.run();
  node.close(() => undefined);
  return frontend.outcomes(id).map((output) => JSON.parse(output) as number[]);
}

/** Holds the model to `evaluate` on a batch of three, and to its number of launches. */
function agrees(
  spec: ModelSpec,
  width: number,
  launches: number,
  evaluate: (input: Float32Array) => readonly number[],
): void {
  const inputs = Array.from({ length: 3 }, () => draws(width));
  answers(spec, inputs).forEach((answer, index) => {
    const expected = evaluate(inputs[index]);
    expect(answer).toHaveLength(expected.length);
    answer.forEach((value, k) => expect(value).toBeCloseTo(expected[k], 4));
  });
  expect(loadKernelModel(join(folder, 'model')).manifest.launches).toHaveLength(launches);
}

function failure(spec: ModelSpec): ModelError {
  try {
    importOnnx(onnxFile(spec), 'model.onnx', { ...OPTIONS, folder });
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
  throw new Error('the model was imported');
}

const whole = (...values: number[]): TensorSpec => ({ dims: [values.length], values, isInteger: true });
const one = (value: number): TensorSpec => ({ dims: [], values: [value], isInteger: true });

describe('shapes that keep the batch', () => {
  const w = tensor(12, 5);
  const inputs = { x: ['N', 3, 2, 2] };
  const last: NodeSpec = { op: 'MatMul', inputs: ['f', 'w'], output: 'y' };
  const chains: [string, NodeSpec[], Record<string, TensorSpec>][] = [
    [
      'x.view(x.size(0), -1)',
      [
        { op: 'Shape', inputs: ['x'], output: 's' },
        { op: 'Gather', inputs: ['s', 'zero'], output: 'g', attributes: { axis: 0 } },
        { op: 'Unsqueeze', inputs: ['g', 'axes'], output: 'u' },
        { op: 'Concat', inputs: ['u', 'rest'], output: 'c', attributes: { axis: 0 } },
        { op: 'Reshape', inputs: ['x', 'c'], output: 'f' },
      ],
      { zero: one(0), axes: whole(0), rest: whole(-1) },
    ],
    [
      'x.view(x.shape[0], x.shape[1] * x.shape[2] * x.shape[3])',
      [
        { op: 'Shape', inputs: ['x'], output: 's' },
        { op: 'Cast', inputs: ['s'], output: 's7', attributes: { to: 7 } },
        { op: 'Gather', inputs: ['s7', 'i0'], output: 'n', attributes: { axis: 0 } },
        { op: 'Gather', inputs: ['s7', 'i1'], output: 'a' },
        { op: 'Gather', inputs: ['s7', 'i2'], output: 'b' },
        { op: 'Gather', inputs: ['s7', 'last'], output: 'c' },
        { op: 'Mul', inputs: ['a', 'b'], output: 'ab' },
        { op: 'Mul', inputs: ['ab', 'c'], output: 'abc' },
        { op: 'Mul', inputs: ['n', 'i1'], output: 'n1' },
        { op: 'Unsqueeze', inputs: ['n1'], output: 'u0', attributes: { axes: [0] } },
        { op: 'Unsqueeze', inputs: ['abc'], output: 'u1', attributes: { axes: [0] } },
        { op: 'Concat', inputs: ['u0', 'u1'], output: 'shape', attributes: { axis: 0 } },
        { op: 'Reshape', inputs: ['x', 'shape'], output: 'f' },
      ],
      { i0: one(0), i1: one(1), i2: one(2), last: one(-1) },
    ],
    [
      'a slice of the shape, as dynamic exports write it',
      [
        { op: 'Shape', inputs: ['x'], output: 's', attributes: { start: 0 } },
        { op: 'Slice', inputs: ['s', 'from', 'to', 'axes'], output: 'b' },
        { op: 'Concat', inputs: ['b', 'rest'], output: 'c', attributes: { axis: 0 } },
        { op: 'Reshape', inputs: ['x', 'c'], output: 'f', attributes: { allowzero: 1 } },
      ],
      { from: whole(0), to: whole(1), axes: whole(0), rest: whole(12) },
    ],
    [
      'extents of 1 that come, move and go',
      [
        { op: 'Unsqueeze', inputs: ['x', 'two'], output: 'a' },
        { op: 'Transpose', inputs: ['a'], output: 'b', attributes: { perm: [0, 2, 1, 3, 4] } },
        { op: 'Squeeze', inputs: ['b', 'first'], output: 'c' },
        { op: 'Flatten', inputs: ['c'], output: 'f' },
      ],
      { two: whole(2), first: whole(1) },
    ],
  ];

  it.each(chains)('%s', (_what, nodes, initializers) => {
    const spec: ModelSpec = { inputs, initializers: { w, ...initializers }, nodes: [...nodes, last] };
    agrees(spec, 12, 1, (x) => dense(x, w.values, new Float64Array(5)));
  });

  it('with values that move, and more rows than queries', () => {
    const nodes: NodeSpec[] = [
      { op: 'Transpose', inputs: ['x'], output: 't', attributes: { perm: [0, 2, 3, 1] } },
      { op: 'Shape', inputs: ['t'], output: 's' },
      { op: 'Gather', inputs: ['s', 'i'], output: 'n' },
      { op: 'Mul', inputs: ['n', 'two'], output: 'm' },
      { op: 'Concat', inputs: ['m', 'rest'], output: 'c', attributes: { axis: 0 } },
      { op: 'Reshape', inputs: ['t', 'c'], output: 'y' },
    ];
    const initializers = { i: whole(0), two: whole(2), rest: whole(-1) };
    agrees({ inputs, initializers, nodes }, 12, 1, (x) =>
      Array.from(x, (_, at) => x[(at % 3) * 4 + Math.floor(at / 3)]),
    );
  });

  it('and constants that are transposed, squeezed and cast', () => {
    const turned = {
      dims: [5, 1, 12],
      values: Float32Array.from({ length: 60 }, (_, at) => w.values[(at % 12) * 5 + Math.floor(at / 12)]),
    };
    const nodes: NodeSpec[] = [
      { op: 'Flatten', inputs: ['x'], output: 'f' },
      { op: 'Cast', inputs: ['t'], output: 't1', attributes: { to: 1 } },
      { op: 'Squeeze', inputs: ['t1'], output: 't2', attributes: { axes: [1] } },
      { op: 'Transpose', inputs: ['t2'], output: 'w' },
      last,
    ];
    agrees({ inputs, initializers: { t: turned }, nodes }, 12, 1, (x) =>
      dense(x, w.values, new Float64Array(5)),
    );
    const deep = tensor(2, 3, 4);
    const shifted: NodeSpec[] = [
      { op: 'Transpose', inputs: ['d'], output: 'e', attributes: { perm: [2, 0, 1] } },
      { op: 'Reshape', inputs: ['e', 's'], output: 'r' },
      { op: 'Add', inputs: ['x', 'r'], output: 'y' },
    ];
    agrees(
      { inputs: { x: ['N', 24] }, initializers: { d: deep, s: whole(24) }, nodes: shifted },
      24,
      1,
      (x) =>
        Array.from(
          x,
          (value, at) =>
            value + deep.values[(Math.floor(at / 3) % 2) * 12 + (at % 3) * 4 + Math.floor(at / 6)],
        ),
    );
  });

  it.each<[string, NodeSpec[], Record<string, TensorSpec>, string]>([
    [
      'more than the batch',
      [
        { op: 'Shape', inputs: ['x'], output: 's' },
        { op: 'Gather', inputs: ['s', 'i'], output: 'n' },
        { op: 'Add', inputs: ['n', 'two'], output: 'm' },
      ],
      { i: whole(0), two: whole(2) },
      "computing with the batch's extent would mix the queries of a batch",
    ],
    [
      'the batch behind other extents',
      [
        { op: 'Shape', inputs: ['x'], output: 's' },
        { op: 'Gather', inputs: ['s', 'i'], output: 'n' },
        { op: 'Concat', inputs: ['rest', 'n'], output: 'c', attributes: { axis: 0 } },
        { op: 'Reshape', inputs: ['x', 'c'], output: 'f' },
      ],
      { i: whole(0), rest: whole(-1) },
      '[batch, 3, 2, 2] made [-1, batch] would mix the queries of a batch',
    ],
    [
      'an output whose batch is not the first extent',
      [{ op: 'Transpose', inputs: ['x'], output: 'f', attributes: { perm: [1, 0, 2, 3] } }],
      {},
      "graph.output 'f': the batch lies along axis 1: putting answers together would mix",
    ],
    [
      'a batch that goes',
      [{ op: 'Squeeze', inputs: ['x'], output: 'f' }],
      {},
      'dropping every extent of 1, the batch too, would mix the queries of a batch',
    ],
    [
      'an index too large',
      [
        { op: 'Shape', inputs: ['x'], output: 's' },
        { op: 'Gather', inputs: ['s', 'i'], output: 'n' },
      ],
      { i: one(9) },
      'index 9 of 4 numbers',
    ],
    [
      'rows of the query',
      [{ op: 'Gather', inputs: ['x', 'i'], output: 'n' }],
      { i: one(0) },
      'axis 0 of 4 would mix the queries of a batch',
    ],
    [
      'strings',
      [{ op: 'Cast', inputs: ['x'], output: 'f', attributes: { to: 8 } }],
      {},
      'numbers and strings are not made of one another',
    ],
    [
      'axes twice',
      [{ op: 'Unsqueeze', inputs: ['x', 'i'], output: 'f' }],
      { i: whole(1, 1) },
      'axes 1, 1 of 6 extents',
    ],
    [
      'a wrong perm',
      [{ op: 'Transpose', inputs: ['x'], output: 'f', attributes: { perm: [0, 1, 1, 2] } }],
      {},
      'perm [0, 1, 1, 2] of 4 extents',
    ],
  ])('and nothing else: %s', (_what, nodes, initializers, text) => {
    expect(failure({ inputs, initializers, nodes, outputs: ['f'] }).message).toContain(text);
  });
});

describe('BatchNormalization', () => {
  const [scale, bias, mean] = [tensor(3), tensor(3), tensor(3)];
  const variance = { dims: [3], values: Float32Array.of(0.5, 2, 1) };
  const initializers = { scale, bias, mean, variance };
  const epsilon = 0.01;
  const node = (x: string, output: string): NodeSpec => ({
    op: 'BatchNormalization',
    inputs: [x, 'scale', 'bias', 'mean', 'variance'],
    output,
    attributes: { epsilon: { float: epsilon } },
  });
  const normalized = (value: number, channel: number): number =>
    ((value - mean.values[channel]) / Math.sqrt(variance.values[channel] + epsilon)) * scale.values[channel] +
    bias.values[channel];

  it('becomes part of the dense layer before it, with its bias and activation', () => {
    const [w, b] = [tensor(4, 3), tensor(3)];
    const nodes: NodeSpec[] = [
      { op: 'Gemm', inputs: ['x', 'w', 'b'], output: 'g' },
      node('g', 'n'),
      { op: 'Relu', inputs: ['n'], output: 'y' },
    ];
    agrees({ initializers: { ...initializers, w, b }, nodes }, 4, 1, (x) =>
      dense(x, w.values, b.values).map(normalized).map(relu),
    );
  });

  it('becomes part of the convolution before it, and stays apart where another reads that', () => {
    const w = tensor(3, 2, 3, 3);
    const inputs = { x: ['N', 2, 5, 4] };
    const window = { image: [2, 5, 4], kernel: [3, 3], strides: [1, 1], pads: [1, 1], out: [5, 4] } as const;
    const conv: NodeSpec = {
      op: 'Conv',
      inputs: ['x', 'w'],
      output: 'c',
      attributes: { pads: [1, 1, 1, 1] },
    };
    const plain = (x: Float32Array): number[] => convolution(x, w.values, new Float64Array(3), window);
    const made = (x: Float32Array): number[] =>
      plain(x).map((value, at) => normalized(value, Math.floor(at / 20)));
    agrees({ inputs, initializers: { ...initializers, w }, nodes: [conv, node('c', 'y')] }, 40, 1, made);
    const nodes = [conv, node('c', 'n'), { op: 'Add', inputs: ['n', 'c'], output: 'y' }];
    agrees({ inputs, initializers: { ...initializers, w }, nodes }, 40, 3, (x) => {
      const from = plain(x);
      return made(x).map((value, at) => value + from[at]);
    });
  });

  it('stands first, and behind an activation', () => {
    const w = tensor(3, 2);
    const nodes: NodeSpec[] = [
      node('x', 'n'),
      { op: 'Relu', inputs: ['n'], output: 'r' },
      node('r', 'm'),
      { op: 'MatMul', inputs: ['m', 'w'], output: 'y' },
    ];
    agrees({ inputs: { x: ['N', 3] }, initializers: { ...initializers, w }, nodes }, 3, 3, (x) =>
      dense(Float32Array.from(x, normalized).map(relu).map(normalized), w.values, new Float64Array(2)),
    );
  });

  it.each<[string, NodeSpec, Record<string, TensorSpec>, string]>([
    ['in training', { ...node('x', 'y'), attributes: { training_mode: 1 } }, {}, 'it is in training mode'],
    [
      'of other channels',
      node('x', 'y'),
      { mean: tensor(2) },
      'mean has the shape [2], expected the 3 channels',
    ],
    ['of no variance', node('x', 'y'), { variance: { dims: [3], values: [1, -1, 1] } }, 'var[1] is -1'],
  ])('is refused %s', (_what, bad, more, text) => {
    const spec: ModelSpec = {
      inputs: { x: ['N', 3] },
      initializers: { ...initializers, ...more },
      nodes: [bad],
    };
    expect(failure(spec).message).toContain(text);
  });

  it('has siblings: Sub, Mul and Div of constants, from either side', () => {
    const [a, b] = [tensor(3), { dims: [1], values: [4] }];
    const nodes: NodeSpec[] = [
      { op: 'Sub', inputs: ['x', 'a'], output: 's' },
      { op: 'Div', inputs: ['s', 'b'], output: 'd' },
      { op: 'Sub', inputs: ['a', 'd'], output: 'e' },
      { op: 'Mul', inputs: ['b', 'e'], output: 'm' },
      { op: 'Add', inputs: ['m', 'a'], output: 'n' },
      { op: 'Tanh', inputs: ['n'], output: 'y' },
    ];
    agrees({ inputs: { x: ['N', 3] }, initializers: { a, b }, nodes }, 3, 4, (x) =>
      Array.from(x, (value, at) => Math.tanh(4 * (a.values[at] - (value - a.values[at]) / 4) + a.values[at])),
    );
    const by = (inputs: string[], values: number[]): ModelSpec => ({
      initializers: { a: { dims: [1], values } },
      nodes: [{ op: 'Div', inputs, output: 'y' }],
    });
    expect(failure(by(['x', 'a'], [0])).message).toContain('it divides by 0');
    agrees(by(['a', 'x'], [3]), 4, 1, (x) => Array.from(x, (value) => 3 / value));
  });
});

describe('weights in files of their own', () => {
  const w = tensor(4, 3);
  const bytes = new Uint8Array(Float32Array.from(w.values).buffer);
  const nodes: NodeSpec[] = [{ op: 'MatMul', inputs: ['x', 'w'], output: 'y' }];
  const external = (entries: Record<string, string>, dims = [4, 3]): ModelSpec => ({
    nodes,
    more: [
      [
        5,
        [
          ...dims.map((extent): Field => [1, extent]),
          [2, 1],
          [8, 'w'],
          ...Object.entries(entries).map(([key, value]): Field => [
            13,
            [
              [1, key],
              [2, value],
            ],
          ]),
          [14, 1],
        ],
      ],
    ],
  });

  it.each([
    ['a whole file', { location: 'model.onnx.data' }, 0],
    ['part of one', { location: 'model.onnx.data', offset: '64', length: '48' }, 64],
    ['a file in a folder', { location: 'deep/model.data', offset: '8', checksum: 'x' }, 8],
  ])('%s', (_what, entries, offset) => {
    mkdirSync(join(folder, 'deep'));
    writeFileSync(
      join(folder, entries.location),
      Buffer.concat([Buffer.alloc(offset, 7), bytes, Buffer.alloc(9)]),
    );
    agrees(external(entries), 4, 1, (x) => dense(x, w.values, new Float64Array(3)));
  });

  it.each<[string, Record<string, string>, string]>([
    [
      'is missing',
      { location: 'none.data' },
      "its data lies in 'none.data', which is not there: copy that file beside the model",
    ],
    ['is short', { location: 'short.data' }, "'short.data' has 40 bytes, the tensor takes 48 from byte 0"],
    [
      'is short behind the offset',
      { location: 'w.data', offset: '4' },
      "'w.data' has 48 bytes, the tensor takes 48 from byte 4",
    ],
    [
      'has another length',
      { location: 'w.data', length: '44' },
      "44 bytes in 'w.data', its shape and type take 48",
    ],
    ['has no name', {}, 'its external data names no file'],
    ['begins nowhere', { location: 'w.data', offset: '-1' }, "its external data begins at '-1'"],
    ['lies above', { location: '../w.data' }, "outside the model's folder"],
    ['lies above, by a detour', { location: 'deep/../../w.data' }, "outside the model's folder"],
    ['lies at an absolute place', { location: '/etc/passwd' }, "outside the model's folder"],
    ['is a link out of the folder', { location: 'link.data' }, "outside the model's folder"],
    ['lies in a folder that is a link out', { location: 'etc/passwd' }, "outside the model's folder"],
    ['is a folder', { location: 'deep' }, "'deep' is no regular file"],
  ])('that %s', (_what, entries, text) => {
    mkdirSync(join(folder, 'deep'));
    symlinkSync('/etc/passwd', join(folder, 'link.data'));
    symlinkSync('/etc', join(folder, 'etc'));
    writeFileSync(join(folder, 'w.data'), bytes);
    writeFileSync(join(folder, 'short.data'), bytes.subarray(0, 40));
    const { message } = failure(external(entries));
    expect(message).toContain("model.onnx: initializer 'w': ");
    expect(message).toContain(text);
  });

  it('and shapes that no file holds', () => {
    writeFileSync(join(folder, 'w.data'), bytes);
    const huge = external({ location: 'w.data' }, [2 ** 30, 2 ** 30]);
    expect(failure(huge).message).toContain('the shape [1073741824, 1073741824] has more than');
    expect(failure(external({ location: 'w.data' }, [-4, -3])).message).toContain('has an extent below 0');
  });
});
