import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../simulator/time/index.js';
import {
  ModelError,
  importOnnx,
  loadKernelModel,
  writeModelFolder,
  type OnnxImportOptions,
} from '../../models/index.js';
import { tryModel } from '../trial/index.js';
import { VirtualNode } from '../virtualNode.js';
import { FrontendDouble, floats } from './frontendDouble.js';
import { message, onnxFile, tensorFields, type ModelSpec, type NodeSpec } from './onnxWriter.js';

const SEED = 20;
const MAX_BATCH = 8;
const generator = xoroshiro128plus(SEED);
const draw = (): number => Math.fround(2 * uniformFloat64(generator) - 1);
const draws = (count: number): Float32Array => Float32Array.from({ length: count }, draw);
const product = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);
const tensor = (...dims: number[]): { dims: number[]; values: Float32Array } => ({
  dims,
  values: draws(product(dims)),
});

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

const relu = (x: number): number => Math.max(x, 0);
const logistic = (x: number): number => 1 / (1 + Math.exp(-x));

function dense(x: ArrayLike<number>, weights: ArrayLike<number>, bias: ArrayLike<number>): number[] {
  return Array.from(bias, (start, n) =>
    Array.from(x).reduce((sum, value, k) => sum + value * weights[k * bias.length + n], start),
  );
}

function softmax(x: readonly number[]): number[] {
  const powers = x.map((value) => Math.exp(value - Math.max(...x)));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

interface Sliding {
  readonly image: readonly [number, number, number];
  readonly kernel: readonly [number, number];
  readonly strides: readonly [number, number];
  /** Top, left. */
  readonly pads: readonly [number, number];
  readonly out: readonly [number, number];
}

/** Calls `visit` for every pixel of the image under every window. */
function slide(
  { kernel, strides, pads, out, image }: Sliding,
  visit: (pixel: number, tap: number, y: number, x: number) => void,
): void {
  for (let oy = 0; oy < out[0]; oy++) {
    for (let ox = 0; ox < out[1]; ox++) {
      for (let ky = 0; ky < kernel[0]; ky++) {
        for (let kx = 0; kx < kernel[1]; kx++) {
          const [y, x] = [oy * strides[0] + ky - pads[0], ox * strides[1] + kx - pads[1]];
          if (y >= 0 && y < image[1] && x >= 0 && x < image[2])
            visit(oy * out[1] + ox, ky * kernel[1] + kx, y, x);
        }
      }
    }
  }
}

function convolution(
  x: ArrayLike<number>,
  w: ArrayLike<number>,
  bias: ArrayLike<number>,
  sliding: Sliding,
): number[] {
  const { image, kernel, out } = sliding;
  const [pixels, taps] = [product(out), product(kernel)];
  const y = Array.from({ length: bias.length * pixels }, (_, index) => bias[Math.floor(index / pixels)]);
  for (let output = 0; output < bias.length; output++) {
    for (let channel = 0; channel < image[0]; channel++) {
      slide(sliding, (pixel, tap, iy, ix) => {
        y[output * pixels + pixel] +=
          x[(channel * image[1] + iy) * image[2] + ix] * w[(output * image[0] + channel) * taps + tap];
      });
    }
  }
  return y;
}

function maxPool(x: ArrayLike<number>, sliding: Sliding): number[] {
  const { image, out } = sliding;
  const y = new Array<number>(image[0] * product(out)).fill(-Infinity);
  for (let channel = 0; channel < image[0]; channel++) {
    slide(sliding, (pixel, _tap, iy, ix) => {
      const at = channel * product(out) + pixel;
      y[at] = Math.max(y[at], x[(channel * image[1] + iy) * image[2] + ix]);
    });
  }
  return y;
}

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
            ],
          ],
        ],
      },
      'importUnsupported',
      "initializer 'e': its data lies in another file",
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
