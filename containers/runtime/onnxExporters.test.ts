import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importOnnx, type OnnxImportOptions } from '../models/index.js';
import { judgeModel } from './tests/onnxNodeSuite.js';
import { onnxFile, type BranchAttribute, type ModelSpec, type TensorSpec } from '../models/testing/index.js';

/* What exporters write around the operators of a network. */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'exporters-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function agrees(spec: ModelSpec, input: readonly number[], output: readonly number[]): void {
  const set = { inputs: [input], outputs: [output] };
  expect(judgeModel(onnxFile(spec), () => [set], join(folder, 'model'))).toEqual({ kind: 'right' });
}

function imported(spec: ModelSpec, options: Partial<OnnxImportOptions> = {}) {
  return importOnnx(onnxFile(spec), 'model.onnx', { name: 'model', maxBatchSize: 4, ...options });
}

const whole = (...values: number[]): TensorSpec => ({ dims: [values.length], values, isInteger: true });

describe('branches', () => {
  /** As torch.jit exports `squeeze(1)`: only where that extent is 1. */
  const squeezed = (extent: number): ModelSpec => {
    const then: BranchAttribute = {
      nodes: [{ op: 'Squeeze', inputs: ['x', 'axis'], output: 'thin' }],
      results: ['thin'],
    };
    const otherwise: BranchAttribute = {
      nodes: [
        { op: 'Relu', inputs: ['x'], output: 'positive' },
        { op: 'ReduceSum', inputs: ['positive', 'axis'], output: 'sum', attributes: { keepdims: 0 } },
      ],
      results: ['sum'],
    };
    return {
      inputs: { x: ['N', extent, 2] },
      initializers: { axis: whole(1), one: whole(1) },
      nodes: [
        { op: 'Shape', inputs: ['x'], output: 'shape' },
        { op: 'Gather', inputs: ['shape', 'one'], output: 'extent' },
        { op: 'Equal', inputs: ['extent', 'one'], output: 'isOne' },
        {
          op: 'If',
          inputs: ['isOne'],
          output: 'y',
          attributes: { then_branch: then, else_branch: otherwise },
        },
      ],
    };
  };

  it('of a condition that shapes decide run as their nodes', () => {
    agrees(squeezed(1), [-1, 2, 3, -4], [-1, 2, 3, -4]);
    agrees(squeezed(2), [-1, 2, 3, -4, 1, 1, 1, 1], [3, 2, 2, 2]);
  });

  it('count as readers of what is around them', () => {
    const { nodes, ...rest } = squeezed(2);
    // Relu must not change x, which the branch reads as well.
    agrees(
      {
        ...rest,
        inputs: { w: ['N', 2, 2] },
        nodes: [
          { op: 'Mul', inputs: ['w', 'w'], output: 'square' },
          { op: 'Sub', inputs: ['w', 'square'], output: 'x' },
          ...nodes.slice(0, -1),
          { ...nodes[3], output: 'sums' },
          { op: 'ReduceSum', inputs: ['x', 'axis'], output: 'all', attributes: { keepdims: 0 } },
          { op: 'Sub', inputs: ['sums', 'all'], output: 'y' },
        ],
      },
      [2, 0.5, 1, 0.5],
      [2, 0],
    );
  });

  it('of a condition that the query decides are refused, and of graphs deep within one another', () => {
    const branch: BranchAttribute = { nodes: [{ op: 'Relu', inputs: ['x'], output: 'r' }], results: ['r'] };
    const attributes = { then_branch: branch, else_branch: branch };
    const spec: ModelSpec = { nodes: [{ op: 'If', inputs: ['x'], output: 'y', attributes }] };
    expect(() => imported(spec)).toThrow("node 0 (If 'y'): its condition depends on the query");
    let deep: BranchAttribute = branch;
    for (let depth = 0; depth < 40; depth++)
      deep = {
        nodes: [{ op: 'If', inputs: ['x'], output: 'r', attributes: { then_branch: deep } }],
        results: ['r'],
      };
    const nested: ModelSpec = {
      nodes: [{ op: 'If', inputs: ['x'], output: 'y', attributes: { then_branch: deep } }],
    };
    expect(() => imported(nested)).toThrow('graphs lie within one another more than 16 deep');
  });
});

describe('extents that the file leaves open', () => {
  const spec: ModelSpec = {
    inputs: { ids: ['batch', 'sequence'], mask: ['batch', 'sequence'] },
    nodes: [{ op: 'Mul', inputs: ['ids', 'mask'], output: 'y' }],
  };

  it('are said by their names', () => {
    const { manifest } = imported(spec, { extents: { sequence: 3 } });
    expect(manifest.inputs[0]).toMatchObject({ shape: [6], tensors: [{ shape: [3] }, { shape: [3] }] });
  });

  it('are named where they are missing, or called otherwise', () => {
    expect(() => imported(spec)).toThrow("graph.input 'ids': the shape of one query, [sequence], is open: ");
    expect(() => imported(spec)).toThrow('or how long it is with --extents sequence=128');
    expect(() => imported(spec, { extents: { length: 3 } })).toThrow(
      "no extent is called 'length', only batch, sequence",
    );
    expect(() => imported(spec, { inputShape: [3] })).toThrow(
      'say how long open extents are by their names (--extents)',
    );
  });
});

describe('what is the same for every query', () => {
  const QUERIES = 8;
  const four = { dims: [1, 1, 2, 2], values: [1, 1, 1, 1] };

  it.each<[ModelSpec['nodes'][number], number[]]>([
    [
      { op: 'Softmax', inputs: ['ones'], output: 'y', attributes: { axis: 3 } },
      new Array<number>(16).fill(0.25),
    ],
    [
      { op: 'CumSum', inputs: ['ones', 'last'], output: 'y' },
      [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4],
    ],
    [{ op: 'Conv', inputs: ['ones', 'four'], output: 'y' }, new Array<number>(9).fill(4)],
    [
      { op: 'ConvTranspose', inputs: ['ones', 'four'], output: 'y', attributes: { strides: [2, 2] } },
      new Array<number>(64).fill(1),
    ],
    [
      { op: 'MaxPool', inputs: ['ones'], output: 'y', attributes: { kernel_shape: [2, 2], strides: [2, 2] } },
      [1, 1, 1, 1],
    ],
    [
      { op: 'LRN', inputs: ['ones'], output: 'y', attributes: { size: 1, alpha: { float: 3 } } },
      new Array<number>(16).fill(4 ** -0.75),
    ],
    [
      { op: 'InstanceNormalization', inputs: ['ones', 'one', 'one'], output: 'y' },
      new Array<number>(16).fill(1),
    ],
  ])('goes through $op as values of queries do', (node, row) => {
    const spec: ModelSpec = {
      inputs: { x: ['N', 1, 4, 4] },
      initializers: { one: { dims: [1], values: [1] }, last: whole(3), four },
      nodes: [
        { op: 'Shape', inputs: ['x'], output: 'shape' },
        { op: 'Expand', inputs: ['one', 'shape'], output: 'ones' },
        node,
      ],
    };
    agrees(spec, new Array<number>(16 * QUERIES).fill(7), Array.from({ length: QUERIES }, () => row).flat());
  });
});

describe('elements at places', () => {
  const updates: ModelSpec = {
    inputs: { x: [1, 4] },
    initializers: {
      places: { dims: [1, 2], values: [3, -4], isInteger: true },
      rows: { dims: [2, 2], values: [0, 2, 0, 1], isInteger: true },
      seven: { dims: [1, 2], values: [7, 8] },
      list: { dims: [2], values: [7, 8] },
    },
    nodes: [
      { op: 'ScatterElements', inputs: ['x', 'places', 'seven'], output: 'y', attributes: { axis: 1 } },
    ],
  };

  it('of each query become others', () => {
    agrees(updates, [1, 2, 3, 4, 5, 6, 7, 8], [8, 2, 3, 7, 8, 6, 7, 7]);
    agrees(
      { ...updates, nodes: [{ op: 'ScatterND', inputs: ['x', 'rows', 'list'], output: 'y' }] },
      [1, 2, 3, 4, 5, 6, 7, 8],
      [1, 8, 7, 4, 5, 8, 7, 8],
    );
  });

  it.each<[string, ModelSpec['nodes'][number], string]>([
    [
      'other rows of the batch',
      { op: 'ScatterND', inputs: ['x', 'second', 'list'], output: 'y' },
      'elements of single queries would mix the queries of a batch',
    ],
    [
      'sums',
      {
        op: 'ScatterElements',
        inputs: ['x', 'places', 'seven'],
        output: 'y',
        attributes: { reduction: 'add' },
      },
      "reduction 'add' is not supported, only none",
    ],
    [
      'the first queries of the batch',
      { op: 'Slice', inputs: ['x', 'zero', 'three'], output: 'y' },
      'a slice of axis 0 would mix the queries of a batch',
    ],
    [
      'places for each query of a batch',
      { op: 'GatherElements', inputs: ['x', 'rows'], output: 'y', attributes: { axis: 1 } },
      '2 rows along the batch would mix the queries of a batch',
    ],
    [
      'places that are looked up in a row for each query',
      { op: 'GatherElements', inputs: ['table', 'x'], output: 'y', attributes: { axis: 1 } },
      '2 rows along the batch would mix the queries of a batch',
    ],
    [
      'terms along the batch',
      { op: 'MatMul', inputs: ['list', 'x'], output: 'y' },
      'axis 0 would mix the queries of a batch',
    ],
  ])('are refused of %s', (_what, node, problem) => {
    const initializers = {
      ...updates.initializers,
      second: { dims: [2, 2], values: [1, 2, 1, 1], isInteger: true },
      table: { dims: [2, 4], values: [1, 2, 3, 4, 5, 6, 7, 8] },
      zero: whole(0),
      three: whole(3),
    };
    expect(() => imported({ ...updates, initializers, nodes: [node], inputs: { x: ['N', 4] } })).toThrow(
      problem,
    );
  });

  it('are refused where they are not there', () => {
    const far: TensorSpec = { dims: [1, 2], values: [4, 0], isInteger: true };
    const initializers = { ...updates.initializers, places: far };
    expect(() => imported({ ...updates, initializers })).toThrow('place 4 of 4 along axis 1');
    const rows: TensorSpec = { dims: [2, 1, 1], values: [0, 1], isInteger: true };
    const nodes = [{ op: 'GatherND', inputs: ['x', 'rows'], output: 'y', attributes: { batch_dims: 1 } }];
    expect(() => imported({ ...updates, initializers: { rows }, nodes })).toThrow(
      'places [2, 1, 1] of [1, 4] with batch_dims 1',
    );
  });
});
