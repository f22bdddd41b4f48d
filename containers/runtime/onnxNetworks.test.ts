import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../simulator/time/index.js';
import { importOnnx, writeModelFolder } from '../models/index.js';
import { bertTiny, mobileNet, resNet18 } from './tests/networks.js';
import { FrontendDouble } from './tests/frontendDouble.js';
import { onnxFile, type ModelSpec } from '../models/testing/index.js';
import { evaluateGraph, type PlainArray } from './tests/plainGraph.js';
import { draws, product } from './tests/seededTensors.js';
import { tryModel } from './trial/index.js';
import { VirtualNode } from './virtualNode.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'networks-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const BATCH = 2;

/** Holds an import to the plain evaluation of its graph, on a batch of two, and its cost to its limit. */
function agrees(spec: ModelSpec, drawn: (name: string, count: number) => ArrayLike<number>): void {
  const spelled = {
    ...spec,
    nodes: spec.nodes.slice(0, -1),
    outputs: [spec.nodes[spec.nodes.length - 1].inputs[0]],
  };
  const names = Object.keys(spec.inputs ?? {});
  const inputs: Record<string, PlainArray> = {};
  for (const name of names) {
    const dims = [BATCH, ...(spec.inputs?.[name] ?? []).slice(1).map(Number)];
    inputs[name] = { dims, values: drawn(name, product(dims)) };
  }
  const [expected] = evaluateGraph(spelled, inputs);
  const model = importOnnx(onnxFile(spec), 'model.onnx', {
    name: 'network',
    maxBatchSize: 4,
    answersValues: true,
  });
  const path = writeModelFolder(model, join(folder, 'model')).folder;
  const [{ type }] = model.manifest.inputs;
  const items = Array.from({ length: BATCH }, (_, row) =>
    names.flatMap((name) => {
      const { dims, values } = inputs[name];
      const width = product(dims.slice(1));
      return Array.from({ length: width }, (_, k) => values[row * width + k]);
    }),
  );
  const clock = new VirtualClock();
  const node = new VirtualNode({ clock });
  const frontend = new FrontendDouble(
    node.start({ model: 'm', version: '1', replica: '0', inputType: type, path }),
  );
  clock.run();
  const encode = (item: number[]): Uint8Array =>
    new Uint8Array((type === 'floats' ? Float32Array.from(item) : Int32Array.from(item)).buffer);
  const id = frontend.ask(items.map(encode));
  clock.run();
  node.close(() => undefined);
  const answers = frontend.outcomes(id).flatMap((text) => JSON.parse(text) as number[]);
  expect(answers).toHaveLength(expected.values.length);
  // Answers differ from one another, or the test would say nothing.
  expect(new Set(answers.map((value) => value.toFixed(2))).size).toBeGreaterThan(2);
  answers.forEach((value, k) => {
    const allowed = 1e-4 * Math.max(1, Math.abs(expected.values[k]));
    expect(
      Math.abs(value - expected.values[k]),
      `values[${k}]: ${value}, not ${expected.values[k]}`,
    ).toBeLessThan(allowed);
  });
  const { problem, threadInstructionsLimit, batches } = tryModel(path);
  expect(problem).toBeUndefined();
  expect(threadInstructionsLimit / batches[0].threadInstructionsPerQuery).toBeLessThan(5);
}

describe('networks of random weights equal a plain evaluation', () => {
  it('shaped as ResNet-18', { timeout: 60_000 }, () => {
    agrees(resNet18(8, 32, 10), (_name, count) => draws(count));
  });

  it('shaped as MobileNetV2', { timeout: 60_000 }, () => {
    agrees(mobileNet(32, 10), (_name, count) => draws(count));
  });

  it('shaped as BERT, of whole numbers, with a mask', { timeout: 60_000 }, () => {
    const length = 8;
    agrees(bertTiny(length, 32, 2, 2), (name, count) =>
      Array.from({ length: count }, (_, k) => {
        if (name === 'input_ids') return (k * 7 + 3) % 50;
        return name === 'attention_mask' ? Number(k % length < 6 || k < length) : Number(k % length > 3);
      }),
    );
  });
});
