import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../simulator/time/index.js';
import { importOnnx, loadKernelModel, writeModelFolder, type OnnxImportOptions } from '../models/index.js';
import { tryModel } from './trial/index.js';
import { VirtualNode } from './virtualNode.js';
import { FrontendDouble, floats } from './tests/frontendDouble.js';
import {
  convolution,
  dense,
  logistic,
  maxPool,
  relu,
  softmax,
  type Sliding,
} from './tests/layerReference.js';
import { onnxFile, type ModelSpec, type NodeSpec } from '../models/testing/index.js';
import { SEED, draws, tensor } from './tests/seededTensors.js';

const MAX_BATCH = 8;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'onnx-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function imported(spec: ModelSpec, options: Partial<OnnxImportOptions> = {}): string {
  const model = importOnnx(onnxFile(spec), 'model.onnx', {
    name: 'model',
    maxBatchSize: MAX_BATCH,
    ...options,
  });
  return writeModelFolder(model, join(folder, 'model')).folder;
}

/** What the model answers as values to each batch of inputs. */
function answers(spec: ModelSpec, batches: readonly (readonly Float32Array[])[]): number[][][] {
  const path = imported(spec, { answersValues: true });
  const clock = new VirtualClock();
  const node = new VirtualNode({ clock });
  const frontend = new FrontendDouble(
    node.start({ model: 'm', version: '1', replica: '0', inputType: 'floats', path }),
  );
  clock.run();
  const ids = batches.map((inputs) => frontend.ask(inputs.map((input) => floats(...input))));
  clock.run();
  node.close(() => undefined);
  return ids.map((id) => frontend.outcomes(id).map((output) => JSON.parse(output) as number[]));
}

/** Holds the model to `evaluate` on drawn inputs, in batches of 1 and 5. */
function agrees(spec: ModelSpec, width: number, evaluate: (input: Float32Array) => readonly number[]): void {
  const batches = [1, 5].map((size) => Array.from({ length: size }, () => draws(width)));
  answers(spec, batches).forEach((results, batch) => {
    expect(results).toHaveLength(batches[batch].length);
    results.forEach((answer, index) => {
      const expected = evaluate(batches[batch][index]);
      expect(answer).toHaveLength(expected.length);
      answer.forEach((value, k) => {
        const allowed = 1e-5 * Math.max(1, Math.abs(expected[k]));
        if (Math.abs(value - expected[k]) < allowed) return;
        throw new Error(
          `seed ${SEED}, item ${index} of batch ${batch}: values[${k}] is ${value}, not ${expected[k]}`,
        );
      });
    });
  });
}

it('is the same of a Buffer, wherever its bytes lie', () => {
  const bytes = onnxFile({
    inputs: { x: ['N', 5] },
    initializers: { w: tensor(5, 3) },
    nodes: [{ op: 'MatMul', inputs: ['x', 'w'], output: 'y' }],
  });
  const options = { name: 'model', maxBatchSize: MAX_BATCH };
  const within = Buffer.concat([Buffer.alloc(3, 1), bytes]).subarray(3);
  expect(importOnnx(within, 'model.onnx', options)).toEqual(importOnnx(bytes, 'model.onnx', options));
});

describe('operators', () => {
  it.each<[string, number, number]>([
    ['few inputs and outputs', 3, 2],
    ['one output', 17, 1],
    ['outputs that are no multiple of four', 64, 10],
    ['more outputs than a block makes', 20, 301],
    ['more inputs than slices', 613, 7],
  ])('Gemm with %s', (_what, inputs, outputs) => {
    const [w, b] = [tensor(inputs, outputs), tensor(outputs)];
    agrees(
      {
        inputs: { x: ['N', inputs] },
        initializers: { w, b },
        nodes: [{ op: 'Gemm', inputs: ['x', 'w', 'b'], output: 'y' }],
      },
      inputs,
      (x) => dense(x, w.values, b.values),
    );
  });

  it('Gemm with alpha, beta, a transposed B and a row C', () => {
    const [w, c] = [tensor(3, 5), { ...tensor(1, 3), isListed: true }];
    const attributes = { alpha: { float: 0.5 }, beta: { float: 2 }, transB: 1 };
    const turned = Array.from(
      { length: 15 },
      (_, index) => 0.5 * w.values[(index % 3) * 5 + Math.floor(index / 3)],
    );
    agrees(
      {
        inputs: { x: ['N', 5] },
        initializers: { w, c },
        nodes: [{ op: 'Gemm', inputs: ['x', 'w', 'c'], output: 'y', attributes }],
      },
      5,
      (x) =>
        dense(
          x,
          turned,
          c.values.map((value) => 2 * value),
        ),
    );
  });

  it('MatMul, Add and Relu become one launch, and what is read twice does not', () => {
    const [w, b] = [tensor(4, 6), tensor(1, 6)];
    const initializers = { w, b };
    const chain: NodeSpec[] = [
      { op: 'MatMul', inputs: ['x', 'w'], output: 'p' },
      { op: 'Add', inputs: ['b', 'p'], output: 's' },
      { op: 'Identity', inputs: ['s'], output: 'i' },
    ];
    const straight: ModelSpec = {
      initializers,
      nodes: [...chain, { op: 'Relu', inputs: ['i'], output: 'y' }],
    };
    const launches = (): number => loadKernelModel(join(folder, 'model')).manifest.launches.length;
    agrees(straight, 4, (x) => dense(x, w.values, b.values).map(relu));
    expect(launches()).toBe(1);
    const branching: ModelSpec = {
      initializers,
      nodes: [
        ...chain,
        { op: 'Relu', inputs: ['i'], output: 'r' },
        { op: 'Add', inputs: ['r', 's'], output: 'y' },
      ],
    };
    agrees(branching, 4, (x) => dense(x, w.values, b.values).map((value) => relu(value) + value));
    expect(launches()).toBe(3);
  });

  it.each<[string, (x: number) => number]>([
    ['Relu', relu],
    ['Sigmoid', logistic],
    ['Tanh', Math.tanh],
  ])('%s by itself', (op, evaluate) => {
    agrees({ inputs: { x: ['N', 200] }, nodes: [{ op, inputs: ['x'], output: 'y' }] }, 200, (x) =>
      Array.from(x, (value) => evaluate(value)),
    );
  });

  it('Add of constants by the rules of broadcasting', () => {
    const b = tensor(3, 1, 2);
    agrees(
      {
        inputs: { x: ['N', 3, 4, 2] },
        initializers: { b },
        nodes: [{ op: 'Add', inputs: ['x', 'b'], output: 'y' }],
      },
      24,
      (x) => Array.from(x, (value, index) => value + b.values[Math.floor(index / 8) * 2 + (index % 2)]),
    );
  });

  it.each([
    ['few values', 4],
    ['more values than lanes', 70],
  ])('Softmax of %s', (_what, width) => {
    agrees(
      { inputs: { x: ['N', width] }, nodes: [{ op: 'Softmax', inputs: ['x'], output: 'y' }] },
      width,
      (x) => softmax(Array.from(x)),
    );
  });

  it('Softmax of rows, and of all values before operator set 13', () => {
    const nodes: NodeSpec[] = [{ op: 'Softmax', inputs: ['x'], output: 'y' }];
    const inputs = { x: ['N', 3, 4] };
    agrees({ inputs, nodes }, 12, (x) =>
      [0, 4, 8].flatMap((from) => softmax(Array.from(x.slice(from, from + 4)))),
    );
    agrees({ inputs, nodes, opset: 11 }, 12, (x) => softmax(Array.from(x)));
  });

  const windows: [string, Record<string, number | string | number[]>, Omit<Sliding, 'image'>][] = [
    ['no padding', {}, { kernel: [3, 2], strides: [1, 1], pads: [0, 0], out: [5, 8] }],
    ['strides', { strides: [2, 3] }, { kernel: [3, 2], strides: [2, 3], pads: [0, 0], out: [3, 3] }],
    ['uneven pads', { pads: [2, 0, 1, 1] }, { kernel: [3, 2], strides: [1, 1], pads: [2, 0], out: [8, 9] }],
    [
      'SAME_UPPER',
      { auto_pad: 'SAME_UPPER' },
      { kernel: [3, 2], strides: [1, 1], pads: [1, 0], out: [7, 9] },
    ],
    [
      'SAME_LOWER and strides',
      { auto_pad: 'SAME_LOWER', strides: [2, 2] },
      { kernel: [3, 2], strides: [2, 2], pads: [1, 1], out: [4, 5] },
    ],
    ['VALID', { auto_pad: 'VALID' }, { kernel: [3, 2], strides: [1, 1], pads: [0, 0], out: [5, 8] }],
  ];

  it.each(windows)('Conv with %s', (_what, attributes, window) => {
    const [w, b] = [tensor(5, 2, 3, 2), tensor(5)];
    const sliding: Sliding = { image: [2, 7, 9], ...window };
    agrees(
      {
        inputs: { x: ['N', 2, 7, 9] },
        initializers: { w, b },
        nodes: [
          {
            op: 'Conv',
            inputs: ['x', 'w', 'b'],
            output: 'c',
            attributes: { kernel_shape: [3, 2], ...attributes },
          },
          { op: 'Relu', inputs: ['c'], output: 'y' },
        ],
      },
      126,
      (x) => convolution(x, w.values, b.values, sliding).map(relu),
    );
  });

  it.each([
    ...windows,
    [
      'ceil_mode',
      { ceil_mode: 1, strides: [3, 4] },
      { kernel: [3, 2], strides: [3, 4], pads: [0, 0], out: [3, 3] },
    ] as (typeof windows)[0],
  ])('MaxPool with %s', (_what, attributes, window) => {
    const sliding: Sliding = { image: [2, 7, 9], ...window };
    agrees(
      {
        inputs: { x: ['N', 2, 7, 9] },
        nodes: [
          { op: 'MaxPool', inputs: ['x'], output: 'y', attributes: { kernel_shape: [3, 2], ...attributes } },
        ],
      },
      126,
      (x) => maxPool(x, sliding),
    );
  });

  it('a small network for digits, whose cost is under its limit', () => {
    // Small enough for the softmax to have more than one value that counts.
    const small = (...dims: number[]): ReturnType<typeof tensor> => ({
      dims,
      values: tensor(...dims).values.map((value) => value / 8),
    });
    const [c1, b1, c2] = [small(8, 1, 5, 5), small(8, 1, 1), small(16, 8, 5, 5)];
    const [w, b2, last] = [small(16, 4, 4, 10), small(16), small(1, 10)];
    const same = { auto_pad: 'SAME_UPPER' };
    const spec: ModelSpec = {
      inputs: { x: ['N', 1, 28, 28] },
      initializers: {
        c1,
        b1,
        c2,
        b2,
        w,
        last,
        flat: { dims: [2], values: [1, 256], isInteger: true },
        square: { dims: [2], values: [256, 10], isInteger: true, isListed: true },
      },
      nodes: [
        { op: 'Conv', inputs: ['x', 'c1'], output: 'p', attributes: same },
        { op: 'Add', inputs: ['p', 'b1'], output: 'q' },
        { op: 'Relu', inputs: ['q'], output: 'r' },
        { op: 'MaxPool', inputs: ['r'], output: 's', attributes: { kernel_shape: [2, 2], strides: [2, 2] } },
        { op: 'Conv', inputs: ['s', 'c2', 'b2'], output: 't', attributes: same },
        { op: 'Relu', inputs: ['t'], output: 'u' },
        { op: 'MaxPool', inputs: ['u'], output: 'v', attributes: { kernel_shape: [3, 3], strides: [3, 3] } },
        { op: 'Reshape', inputs: ['v', 'flat'], output: 'f' },
        { op: 'Reshape', inputs: ['w', 'square'], output: 'w2' },
        { op: 'MatMul', inputs: ['f', 'w2'], output: 'm' },
        { op: 'Add', inputs: ['m', 'last'], output: 'n' },
        { op: 'Dropout', inputs: ['n'], output: 'o' },
        { op: 'Softmax', inputs: ['o'], output: 'y' },
      ],
    };
    const stage = (image: Sliding['image'], size: number, stride: number, out: number, pad = 0): Sliding => ({
      image,
      kernel: [size, size],
      strides: [stride, stride],
      pads: [pad, pad],
      out: [out, out],
    });
    agrees(spec, 784, (x) => {
      const first = convolution(x, c1.values, b1.values, stage([1, 28, 28], 5, 1, 28, 2)).map(relu);
      const half = maxPool(first, stage([8, 28, 28], 2, 2, 14));
      const second = convolution(half, c2.values, b2.values, stage([8, 14, 14], 5, 1, 14, 2)).map(relu);
      return softmax(dense(maxPool(second, stage([16, 14, 14], 3, 3, 4)), w.values, last.values));
    });
    expect(loadKernelModel(join(folder, 'model')).manifest.launches).toHaveLength(6);
    const { batches, threadInstructionsLimit, problem } = tryModel(join(folder, 'model'));
    expect(problem).toBeUndefined();
    expect(threadInstructionsLimit / batches[0].threadInstructionsPerQuery).toBeLessThan(4);
  });
});

describe('answers', () => {
  const w = { dims: [4, 3], values: [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0] };
  const spec: ModelSpec = { initializers: { w }, nodes: [{ op: 'MatMul', inputs: ['x', 'w'], output: 'y' }] };

  it('are labels with scores', () => {
    const { answer } = loadKernelModel(imported(spec, { labels: ['ape', 'bee', 'cat'] })).manifest;
    expect(answer).toMatchObject({ kind: 'argmax', labels: ['ape', 'bee', 'cat'] });
    expect(loadKernelModel(imported(spec)).manifest.answer).toMatchObject({ labels: ['0', '1', '2'] });
  });

  it('are values when there is only one', () => {
    const one = { ...spec, initializers: { w: { dims: [4, 1], values: [1, 2, 3, 4] } } };
    expect(loadKernelModel(imported(one)).manifest.answer.kind).toBe('values');
    expect(answers(one, [[Float32Array.of(1, 1, 1, 1)]])).toEqual([[[10]]]);
  });
});
