import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { reasonOf } from '../../simulator/text/index.js';
import { ServiceError } from '../errors/index.js';
import { Registry, type ModelRecord } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { Deployer, ModelLoader, type GpuCapacity } from './index.js';
import { FakeContainer } from './tests/fakeContainer.js';

const model = (name: string, version: string, more: Partial<ModelRecord> = {}): ModelRecord => ({
  name,
  version,
  inputType: 'doubles',
  labels: [],
  container: { kind: 'constant', output: '1' },
  batching: { strategy: 'aimd' },
  warmUp: false,
  ...more,
});

/** There is room for everything. */
const capacity: Pick<GpuCapacity, 'admit'> = { admit: (_changes, make) => make() };

describe('a model loader', () => {
  let registry: Registry;
  let started: FakeContainer[];
  let draining: (() => void)[];
  let deployer: Deployer;
  let loader: ModelLoader;

  beforeEach(async () => {
    registry = new Registry(new MemoryStore());
    started = [];
    draining = [];
    await registry.addModel(model('m', '1'));
    await registry.addModel(model('m', '2'), { replicas: 2, range: { minimum: 1, maximum: 3 } });
    deployer = new Deployer({
      registry,
      starter: {
        start: (record, replica) => {
          const container = new FakeContainer(record, replica);
          started.push(container);
          return container;
        },
      },
      addReplica: (channel) => {
        channel.open({ onFrame: () => undefined });
        return { drain: (done) => draining.push(done) };
      },
      backOff: { firstMs: 60_000, longestMs: 60_000, forgivenAfterMs: 60_000 },
    });
    loader = new ModelLoader(registry, deployer, capacity);
    deployer.start();
    for (const container of started) container.hello();
  });
  afterEach(() => deployer.stop());

  const codeOf = (thrown: unknown) => (thrown instanceof ServiceError ? thrown.code : thrown);

  it('unloads every version and loads each with as many replicas as before', async () => {
    expect(loader.state('m', '2')).toEqual({ state: 'READY', reason: '' });
    await loader.unload('m');
    expect(loader.state('m', '2')).toEqual({ state: 'UNLOADING', reason: 'it answers what it had' });
    for (const done of draining) done();
    expect(loader.state('m', '1')).toEqual({ state: 'UNAVAILABLE', reason: 'unloaded' });
    expect([loader.isLoaded('m', '1'), loader.isLoaded('m', '2')]).toEqual([false, false]);
    // Unloading twice must not forget what it was.
    await loader.unload('m');
    started.length = 0;
    let isLoaded = false;
    const loading = loader.load('m').then(() => (isLoaded = true));
    await expect.poll(() => started.length).toBe(3);
    expect(loader.state('m', '2')).toEqual({ state: 'LOADING', reason: 'replica 0 is starting' });
    expect(isLoaded).toBe(false);
    for (const container of started) container.hello();
    await loading;
    expect(registry.scale('m', '2')).toEqual({ replicas: 2, range: { minimum: 1, maximum: 3 } });
    expect(registry.scale('m', '1')).toEqual({ replicas: 1 });
  });

  it('survives a restart unloaded', async () => {
    const store = new MemoryStore();
    const first = new Registry(store);
    await first.addModel(model('m', '1'), { replicas: 2 });
    await new ModelLoader(first, deployer, capacity).unload('m');
    first.close();
    const second = new Registry(store);
    expect(second.scale('m', '1')).toEqual({ replicas: 0, resting: { replicas: 2 } });
    second.close();
  });

  it('tells why a version did not come up', async () => {
    await loader.unload('m');
    for (const done of draining) done();
    started.length = 0;
    const loading = loader.load('m').catch((thrown: unknown) => thrown);
    await expect.poll(() => started.length).toBe(3);
    for (const container of started) {
      if (container.model.version === '1') container.down('no such file');
      else container.hello();
    }
    const failure = await loading;
    expect(codeOf(failure)).toBe('load_failed');
    expect((failure as Error).message).toBe(
      "the model 'm' is not loaded: version '1': replica 0 is down: no such file",
    );
    expect(loader.state('m', '1').state).toBe('UNAVAILABLE');
  });

  it('does not wait for other models, and is told when it is unloaded meanwhile', async () => {
    await registry.addModel(model('slow', '1'));
    await loader.load('m');
    await loader.unload('m');
    for (const done of draining) done();
    started.length = 0;
    const loading = loader.load('m').catch((thrown: unknown) => thrown);
    await expect.poll(() => started.length).toBe(3);
    await loader.unload('m');
    expect(await loading).toMatchObject({ code: 'load_failed' });
    expect(loader.state('slow', '1').state).toBe('LOADING');
  });

  it('knows no unknown model, and leaves those alone that somebody else runs', async () => {
    const external = { kind: 'external', containerName: 'x', modelDataPath: '' } as const;
    await registry.addModel(model('theirs', '1', { container: external }));
    expect(loader.isLoaded('theirs', '1')).toBe(true);
    expect(loader.state('theirs', '1')).toEqual({ state: 'UNAVAILABLE', reason: 'no replica is up' });
    for (const verb of ['load', 'unload'] as const) {
      for (const name of ['nobody', '../..', '__proto__', 'x'.repeat(300)]) {
        const refusal: unknown = await loader[verb](name).catch((thrown: unknown) => thrown);
        expect(refusal).toMatchObject({ code: 'unknown_model' });
        expect(reasonOf(refusal).length).toBeLessThan(150);
      }
      expect(await loader[verb]('theirs').catch(codeOf)).toBe('not_supported');
    }
  });

  it('loads nothing that there is no room for, all versions of it together', async () => {
    await loader.unload('m');
    const asked: number[][] = [];
    const full = new ModelLoader(registry, deployer, {
      admit: (changes) => {
        asked.push(changes.map(({ scale }) => scale.replicas));
        return Promise.reject(new ServiceError('insufficient_gpu_memory', 'no GPU has room'));
      },
    });
    await expect(full.load('m')).rejects.toMatchObject({ code: 'insufficient_gpu_memory' });
    expect(asked).toEqual([[1, 2]]);
    expect(registry.scale('m', '1').replicas).toBe(0);
  });
});
