import { beforeEach, describe, expect, it } from 'vitest';
import { ChangeFeed } from './changeFeed.js';
import { Registry, type ModelRecord } from './registry/index.js';
import { MemoryStore } from './store/index.js';

const APPLICATION = {
  name: 'a',
  inputType: 'doubles',
  defaultOutput: '0',
  latencyObjectiveUs: 20_000,
  policy: { name: 'static', parameters: {} },
} as const;

function version(number: string): ModelRecord {
  return {
    name: 'm',
    version: number,
    inputType: 'doubles',
    labels: [],
    container: { kind: 'constant', output: '1' },
    batching: { strategy: 'aimd' },
  };
}

describe('what changed', () => {
  let registry: Registry;
  let feed: ChangeFeed;
  let told: string[];

  beforeEach(() => {
    registry = new Registry(new MemoryStore());
    feed = new ChangeFeed(registry, () => 7);
    told = [];
    feed.watch(({ at, kind, what, text }) => {
      expect(at).toBe(7);
      told.push(`${kind} ${what}: ${text}`);
    });
  });

  /** What has been told since the last look. */
  const news = (): string[] => told.splice(0);

  it('is told of models: deployed, switched, rolled back, scaled, deleted', async () => {
    await registry.addModel(version('1'));
    expect(news()).toEqual(['deploy m: version 1 deployed']);
    await registry.addModel(version('2'));
    expect(news()).toEqual(['deploy m: version 2 deployed', 'switch m: version 1 → 2']);
    await registry.setCurrentVersion('m', '1');
    expect(news()).toEqual(['rollback m: version 2 → 1, as before']);
    await registry.setScale('m', '1', { replicas: 3 });
    expect(news()).toEqual(['scale m: version 1: 1 → 3 replicas']);
    await registry.setScale('m', '1', { replicas: 3 });
    expect(news()).toEqual([]);
    await registry.deleteVersion('m', '2');
    expect(news()).toEqual(['remove m: version 2 deleted']);
  });

  it('is told of applications and their links', async () => {
    await registry.addModel(version('1'));
    await registry.addApplication(APPLICATION);
    await registry.addLinks('a', ['m']);
    expect(news().slice(1)).toEqual(['application a: registered', 'application a: linked m']);
    await registry.deleteApplication('a');
    expect(news().sort()).toEqual(['application a: deleted', 'application a: unlinked m']);
  });

  it('knows what was there before it listened', async () => {
    const store = new MemoryStore();
    const before = new Registry(store);
    await before.addModel(version('1'));
    await before.addApplication(APPLICATION);
    const later = new ChangeFeed(new Registry(store), () => 7);
    const heard: string[] = [];
    later.watch(({ kind }) => heard.push(kind));
    await before.setScale('m', '1', { replicas: 2 });
    expect(heard).toEqual(['scale']);
  });

  it('is told of lost replicas, and not any more once it is closed', async () => {
    const status = { model: 'm', version: '1', replica: 0, state: 'down', restarts: 1 } as const;
    feed.lost({ ...status, lastFailure: 'out of memory' });
    expect(news()).toEqual(['lost m v1, replica 0: lost: out of memory']);
    feed.close();
    await registry.addModel(version('1'));
    feed.lost(status);
    expect(news()).toEqual([]);
  });
});
