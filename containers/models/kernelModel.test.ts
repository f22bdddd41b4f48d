import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadGolden } from './golden.js';
import { bindPointers, planLaunches } from './launchPlan.js';
import { BUILT_IN_MODELS, builtInModelPath, loadKernelModel } from './kernelModel.js';
import { ModelError } from './modelError.js';
import { packageRoot } from '../../simulator/files/index.js';

type Loose = Record<string, unknown> & { [key: string]: never };

describe('built-in models', () => {
  it.each(BUILT_IN_MODELS)('%s loads', (name) => {
    const model = loadKernelModel(builtInModelPath(name));
    expect(model.manifest.name).toBe(name);
    expect(model.manifest.inputs[0]).toMatchObject({ type: 'floats', minimum: 0, maximum: 1 });
    const bytes = [...model.weights.values()].reduce((sum, weight) => sum + weight.length, 0);
    expect(bytes).toBeLessThan(300_000);
  });

  it('plans the launches of a batch', () => {
    const { manifest } = loadKernelModel(builtInModelPath('digits-mlp'));
    const [hidden, scores, softmax] = planLaunches(manifest, 33);
    expect(hidden).toMatchObject({ kernel: 'hidden_layer', grid: [33, 1, 1], block: [8, 14, 1] });
    expect(scores.grid).toEqual([6, 1, 1]);
    expect(softmax.grid).toEqual([2, 1, 1]);
    expect(new DataView(softmax.params.buffer).getInt32(16, true)).toBe(33);
    const addresses = new Map([
      ['scores', 0x7f00_0000_0100],
      ['probabilities', 0x200],
    ]);
    const view = new DataView(bindPointers(softmax, addresses).buffer);
    expect(view.getBigUint64(0, true)).toBe(0x7f00_0000_0100n);
    expect(view.getBigUint64(8, true)).toBe(0x200n);
  });
});

describe('a broken model', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kernel-model-'));
    cpSync(join(packageRoot(), builtInModelPath('digits-mlp')), folder, { recursive: true });
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  function edit(change: (manifest: Loose) => void): void {
    const file = join(folder, 'manifest.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as Loose;
    change(manifest);
    writeFileSync(file, JSON.stringify(manifest));
  }

  function failure(): ModelError {
    try {
      loadKernelModel(folder);
    } catch (error) {
      if (error instanceof ModelError) return error;
      throw error;
    }
    throw new Error('the model loaded');
  }

  const cases: [string, (manifest: never) => void, string, string][] = [
    ['a field is missing', (m: Loose) => delete m.maxBatchSize, 'maxBatchSize', 'expected number'],
    ['a field is unknown', (m: Loose) => Object.assign(m, { gpu: 1 }), '', 'gpu'],
    ['several GPUs', (m: Loose) => Object.assign(m, { gpus: 2 }), 'gpus', 'not supported yet'],
    [
      'an expression is no expression',
      (m: { launches: { grid: unknown[] }[] }) => (m.launches[1].grid[0] = 'batch +'),
      'launches[1].grid[0]',
      'ends too early',
    ],
    [
      'an expression reads an unknown name',
      (m: { launches: { block: unknown[] }[] }) => (m.launches[0].block[0] = 'units'),
      'launches[0].block[0]',
      "'units' has no value",
    ],
    [
      'a block is too large',
      (m: { launches: { block: unknown[] }[] }) => (m.launches[0].block[1] = 1000),
      'launches[0].block',
      '8000 threads',
    ],
    [
      'a grid is empty for a batch of one',
      (m: { launches: { grid: unknown[] }[] }) => (m.launches[0].grid[0] = 'batch / 2'),
      'launches[0].grid[0]',
      'must be from 1',
    ],
    [
      'a pointer points nowhere',
      (m: { launches: { arguments: object[] }[] }) => (m.launches[2].arguments[0] = { pointer: 'logits' }),
      'launches[2].arguments[0].pointer',
      "nothing is named 'logits'",
    ],
    [
      'an argument is missing',
      (m: { launches: { arguments: object[] }[] }) => m.launches[2].arguments.pop(),
      'launches[2].arguments',
      'takes 3 arguments, the manifest passes 2',
    ],
    [
      'an argument has the wrong size',
      (m: { launches: { arguments: object[] }[] }) => (m.launches[2].arguments[2] = { i64: 'batch' }),
      'launches[2].arguments[2]',
      'the manifest passes 8 bytes',
    ],
    [
      'a kernel does not exist',
      (m: { launches: { kernel: string }[] }) => (m.launches[0].kernel = 'nothing'),
      'launches[0].kernel',
      'only hidden_layer, class_scores, softmax',
    ],
    [
      'a module does not exist',
      (m: { launches: { module: string }[] }) => (m.launches[0].module = 'other'),
      'launches[0].module',
      "there is no module 'other'",
    ],
    [
      'a name is used twice',
      (m: { buffers: { name: string }[] }) => (m.buffers[0].name = 'pixels'),
      'buffers[0].name',
      'taken by inputs[0].name',
    ],
    [
      'labels and output differ',
      (m: { answer: { labels: string[] } }) => m.answer.labels.pop(),
      'answer.labels',
      '9 labels for the 10 values',
    ],
    [
      'two inputs',
      (m: { inputs: object[] }) => m.inputs.push({ name: 'more', type: 'floats', shape: [1] }),
      'inputs',
      'exactly one input',
    ],
    [
      'memory is too small',
      (m: { limits: { deviceBytes: number } }) => (m.limits.deviceBytes = 1000),
      'limits.deviceBytes',
      'the model needs',
    ],
    [
      'a file leaves the folder',
      (m: { modules: { file: string }[] }) => (m.modules[0].file = '../mlp.ptx'),
      'modules[0].file',
      'plain file name',
    ],
    [
      'weights do not fit their file',
      (m: { weights: { shape: unknown[] }[] }) => (m.weights[3].shape = [11]),
      'weights[3]',
      'the file has 101800',
    ],
    [
      'a weights file is not used up',
      (m: { weights: { shape: unknown[] }[] }) => (m.weights[3].shape = [9]),
      'weights',
      'the manifest describes 101796',
    ],
  ];

  it.each(cases)('%s', (_, change, field, problem) => {
    edit(change as (manifest: Loose) => void);
    const error = failure();
    expect(error.field ?? '').toBe(field);
    expect(error.message).toContain(problem);
    expect(error.message).toContain(folder);
  });

  it('has no manifest', () => {
    rmSync(join(folder, 'manifest.json'));
    expect(failure()).toMatchObject({ code: 'manifestMissing', file: join(folder, 'manifest.json') });
  });

  it('has a manifest that is not JSON', () => {
    writeFileSync(join(folder, 'manifest.json'), '{');
    expect(failure()).toMatchObject({ code: 'manifestInvalid' });
  });

  it('has no weights', () => {
    rmSync(join(folder, 'weights.bin'));
    expect(failure()).toMatchObject({ code: 'fileMissing', field: 'weights[0].file' });
  });

  it('has PTX that does not parse', () => {
    writeFileSync(join(folder, 'mlp.ptx'), '.version 9.0\n.target sm_90\n.address_size 64\nfrobnicate;\n');
    const error = failure();
    expect(error.code).toBe('moduleInvalid');
    expect(error.message).toContain('mlp.ptx:4');
  });

  it('has more PTX than a server may be held up by', () => {
    const ptx = readFileSync(join(folder, 'mlp.ptx'));
    writeFileSync(join(folder, 'mlp.ptx'), Buffer.concat([ptx, Buffer.alloc(2 ** 20 - ptx.length, ' ')]));
    expect(() => loadKernelModel(folder)).not.toThrow();
    writeFileSync(join(folder, 'mlp.ptx'), Buffer.alloc(2 ** 20 + 1, ' '));
    const error = failure();
    expect(error).toMatchObject({ code: 'moduleInvalid', field: 'modules[0].file' });
    expect(error.message).toContain("1048577 bytes, and a model's PTX may have 1048576 in all");
  });

  it('has a manifest of more than 1 MiB', () => {
    writeFileSync(join(folder, 'manifest.json'), ' '.repeat(2 ** 20 + 1));
    expect(failure().message).toContain('more than 1 MiB');
  });

  it.runIf(existsSync('/dev/zero'))('has a device in place of a file', () => {
    for (const name of ['mlp.ptx', 'weights.bin', 'manifest.json']) {
      rmSync(join(folder, name));
      symlinkSync('/dev/zero', join(folder, name));
      expect(failure().message).toContain('cannot be read (not a file)');
    }
    symlinkSync('/dev/zero', join(folder, 'golden.json'));
    const { manifest } = loadKernelModel(builtInModelPath('digits-mlp'));
    expect(() => loadGolden({ folder, manifest })).toThrow('golden.json: cannot be read (not a file)');
  });
});
