import { beforeEach, describe, expect, it } from 'vitest';
import { Registry, type ModelRecord } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { ServedVersions } from './index.js';

const model = (version: string, inputLength?: number): ModelRecord => ({
  name: 'm',
  version,
  inputType: 'doubles',
  ...(inputLength === undefined ? {} : { inputLength }),
  labels: [],
  container: { kind: 'constant', output: '1' },
  batching: { strategy: 'aimd' },
});

describe('ServedVersions', () => {
  let store: MemoryStore;
  let registry: Registry;
  let up: Set<string>;
  let served: ServedVersions;

  const view = () => new ServedVersions(registry, (_name, version) => up.has(version));
  const comesUp = (version: string): void => {
    up.add(version);
    served.onReady('m');
  };

  beforeEach(async () => {
    store = new MemoryStore();
    registry = new Registry(store);
    up = new Set();
    await registry.addApplication({
      name: 'a',
      inputType: 'doubles',
      defaultOutput: '0',
      latencyObjectiveUs: 1000,
      policy: { name: 'static', parameters: {} },
    });
    await registry.addModel(model('1', 2));
    await registry.addLinks('a', ['m']);
    served = view();
  });

  it('stays at the old version until the new one is up, and tells of the change', async () => {
    comesUp('1');
    const changes: string[] = [];
    served.watch(({ kind }) => changes.push(`${kind} ${served.currentVersion('m')}`));
    await registry.addModel(model('2', 3));
    expect(served.linkedModels('a')).toEqual([model('1', 2)]);
    expect(served.model('m', '2')).toEqual(model('2', 3));
    comesUp('2');
    expect(served.linkedModels('a')).toEqual([model('2', 3)]);
    expect(changes).toEqual(['model 1', 'currentVersion 1', 'currentVersion 2']);
  });

  it('leaves the old one serving when the new one never comes up, through another try', async () => {
    comesUp('1');
    await registry.addModel(model('2'));
    await registry.addModel(model('3'));
    expect(served.currentVersion('m')).toBe('1');
    up.delete('1');
    expect(served.currentVersion('m')).toBe('1');
    comesUp('1');
    comesUp('3');
    expect(served.currentVersion('m')).toBe('3');
  });

  it('rolls back at once to a version that is up', async () => {
    comesUp('1');
    await registry.addModel(model('2'));
    comesUp('2');
    await registry.setCurrentVersion('m', '1');
    expect(served.currentVersion('m')).toBe('1');
  });

  it('does not change back while the replicas of the new one are lost', async () => {
    comesUp('1');
    await registry.addModel(model('2'));
    comesUp('2');
    up.delete('2');
    comesUp('1');
    expect(served.currentVersion('m')).toBe('2');
  });

  it('after a restart, lets an older version answer until the current one is up', async () => {
    await registry.addModel(model('2'));
    await registry.addModel(model('3'));
    registry = new Registry(store);
    served = view();
    expect(served.currentVersion('m')).toBe('3');
    comesUp('1');
    expect(served.currentVersion('m')).toBe('1');
    comesUp('2');
    expect(served.currentVersion('m')).toBe('1');
    comesUp('3');
    expect(served.currentVersion('m')).toBe('3');
  });

  it('names the first version before it is up, and none once it is deleted', async () => {
    expect(served.currentVersion('m')).toBe('1');
    await registry.deleteLinks('a', ['m']);
    await registry.deleteVersion('m', '1');
    expect(served.currentVersion('m')).toBeUndefined();
    expect(served.linkedModels('a')).toEqual([]);
  });

  it('falls back to the current version when the one that answers is deleted', async () => {
    comesUp('1');
    await registry.addModel(model('2'));
    await registry.deleteVersion('m', '1');
    expect(served.currentVersion('m')).toBe('2');
  });
});
