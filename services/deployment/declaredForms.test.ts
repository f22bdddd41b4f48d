import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtInModelPath } from '../../containers/models/index.js';
import { Registry, type ModelRecord } from '../registry/index.js';
import { EmbeddedStore, storeKey } from '../store/index.js';
import { declareManifestRanges } from './index.js';

const digits: ModelRecord = {
  name: 'digits',
  version: '1',
  inputType: 'floats',
  inputLength: 784,
  labels: [],
  container: { kind: 'kernelModel', path: builtInModelPath('digits-logistic') },
  batching: { strategy: 'aimd' },
};
const module: ModelRecord = {
  name: 'module',
  version: '1',
  inputType: 'floats',
  labels: [],
  container: { kind: 'process', path: '/m.mjs' },
  batching: { strategy: 'aimd' },
};

describe('a data directory of an older program', () => {
  let folder: string;
  let store: EmbeddedStore | undefined;
  let registry: Registry;
  let complaints: [string, unknown][];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-older-'));
    complaints = [];
  });
  afterEach(async () => {
    await close();
    rmSync(folder, { recursive: true });
  });

  async function close(): Promise<void> {
    registry.close();
    const open = store;
    store = undefined;
    await new Promise<void>((done) => (open === undefined ? done() : open.close(done)));
  }

  /** With what an older program had written. */
  async function start(write: (registry: Registry, store: EmbeddedStore) => Promise<void>): Promise<void> {
    store = new EmbeddedStore(folder);
    registry = new Registry(store);
    await write(registry, store);
    await close();
    open();
  }

  function open(): void {
    store = new EmbeddedStore(folder);
    registry = new Registry(store);
    declareManifestRanges(registry, (message, details) => complaints.push([message, details]));
  }

  const addApplication = (name: string): Promise<void> =>
    registry.addApplication({
      name,
      inputType: 'floats',
      defaultOutput: '-1',
      latencyObjectiveUs: 1000,
      policy: { name: 'static', parameters: null },
    });

  const formOf = (name: string) => registry.inputForm(registry.requireVersion(name, '1'));

  it('has the ranges that the manifests say, and keeps the lengths that replicas have said', async () => {
    await start(async (older, present) => {
      await older.addModel(digits);
      await older.addModel({ ...digits, name: 'gone', container: { kind: 'kernelModel', path: '/gone' } });
      await older.addModel(module);
      const key = storeKey('registry', 'declared', 'module', '1');
      await new Promise((done) => present.set(key, 2, 'any', done));
    });
    await expect.poll(() => formOf('digits').range).toEqual({ minimum: 0, maximum: 1 });
    expect(formOf('digits').length).toBe(784);
    expect(formOf('module')).toEqual({ type: 'floats', length: 2 });
    expect(formOf('gone').range).toBeUndefined();
    // What its replica says does not make it forget, and at the next start nothing is left to write.
    await registry.declare(registry.requireVersion('digits', '1'), { length: 784 });
    await close();
    open();
    expect(formOf('digits').range).toEqual({ minimum: 0, maximum: 1 });
    expect(complaints).toEqual([]);
  });

  it('with linked models that no input suits serves as before, and says so', async () => {
    await start(async (older) => {
      await addApplication('app');
      await older.addModel(digits);
      await older.addModel({
        ...digits,
        name: 'high',
        container: { kind: 'constant', output: '1' },
        inputRange: { minimum: 5 },
      });
      await older.addLinks('app', ['digits', 'high']);
    });
    expect(complaints).toMatchObject([
      ['linked models have no input that suits them all', { name: 'digits' }],
    ]);
    expect(formOf('digits').range).toBeUndefined();
  });
});
