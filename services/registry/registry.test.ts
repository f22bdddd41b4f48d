import { describe, expect, it } from 'vitest';
import type { Json } from '../../selection/index.js';
import { MemoryStore, storeKey, type StoreOutcome } from '../store/index.js';
import type { ModelRecord, RegistryChange } from './index.js';
import { Registry } from './index.js';

const application = {
  name: 'a',
  inputType: 'doubles',
  defaultOutput: '0',
  latencyObjectiveUs: 1000,
  policy: { name: 'static', parameters: {} },
} as const;

const model = (name: string, version: string, inputLength?: number): ModelRecord => ({
  name,
  version,
  inputType: 'doubles',
  ...(inputLength === undefined ? {} : { inputLength }),
  labels: [],
  container: { kind: 'constant', output: '1' },
  batching: { strategy: 'aimd' },
});

/** Somebody else writes in the moment before the next write. */
class MeanwhileStore extends MemoryStore {
  before: (() => void) | undefined;

  override set(...[key, value, expected, done]: Parameters<MemoryStore['set']>): void {
    const { before } = this;
    this.before = undefined;
    before?.();
    super.set(key, value, expected, done);
  }
}

describe('Registry', () => {
  it('shows what another one stored: a restart changes nothing', async () => {
    const store = new MemoryStore();
    const first = new Registry(store);
    await first.addApplication(application);
    await first.addModel(model('m', '1'));
    await first.addModel(model('m', '2'));
    await first.addModel(model('n', '1'));
    await first.addLinks('a', ['n', 'm']);
    await first.setCurrentVersion('m', '1');
    first.close();

    const second = new Registry(store);
    expect(second.applications()).toEqual([application]);
    expect(second.models().map(({ name, version }) => `${name}:${version}`)).toEqual(['m:1', 'm:2', 'n:1']);
    expect(second.linkedModels('a')).toEqual([model('n', '1'), model('m', '1')]);
    expect(second.currentVersion('m')).toBe('1');
  });

  it('tells watchers of each change, and sees those of others', async () => {
    const store = new MemoryStore();
    const registry = new Registry(store);
    const other = new Registry(store);
    const changes: RegistryChange[] = [];
    const unwatch = other.watch((change) => changes.push(change));
    await registry.addApplication(application);
    await registry.addModel(model('m', '1'));
    await registry.addLinks('a', ['m']);
    await registry.deleteApplication('a');
    unwatch();
    await registry.deleteVersion('m', '1');
    expect(changes).toEqual([
      { kind: 'application', name: 'a' },
      { kind: 'model', name: 'm' },
      { kind: 'currentVersion', name: 'm' },
      { kind: 'links', name: 'a' },
      { kind: 'links', name: 'a' },
      { kind: 'application', name: 'a' },
    ]);
    expect(other.models()).toEqual([]);
  });

  it('refuses models of one application that take different lengths', async () => {
    const registry = new Registry(new MemoryStore());
    await registry.addApplication(application);
    await registry.addModel(model('three', '1', 3));
    await registry.addModel(model('four', '1', 4));
    await registry.addModel(model('any', '1'));
    await registry.addLinks('a', ['three', 'any']);
    await expect(registry.addLinks('a', ['four'])).rejects.toMatchObject({ code: 'input_type_mismatch' });
    // A new version alone may change what its application takes.
    await registry.addModel(model('three', '2', 5));
    expect(registry.linkedModels('a')[0].inputLength).toBe(5);
  });

  it('keeps what a replica has said of its input, and holds links to it', async () => {
    const store = new MemoryStore();
    const registry = new Registry(store);
    await registry.addApplication(application);
    await registry.addModel(model('three', '1', 3));
    await registry.addModel(model('module', '1'));
    const module = registry.requireVersion('module', '1');
    await registry.declare(module, { length: 2 });
    await registry.addLinks('a', ['three']);
    await expect(registry.addLinks('a', ['module'])).rejects.toMatchObject({ code: 'input_type_mismatch' });
    const again = new Registry(store);
    expect(again.inputForm(again.requireVersion('module', '1')).length).toBe(2);
    await registry.addModel(model('late', '1'));
    await registry.addLinks('a', ['late']);
    expect(() => registry.checkDeclared(registry.requireVersion('late', '1'), { length: 2 })).toThrow(
      /'three'/,
    );
    await registry.deleteVersion('module', '1');
    expect(registry.inputForm(module).length).toBeUndefined();
  });

  describe('canaries', () => {
    async function withTwo(): Promise<{ store: MemoryStore; registry: Registry }> {
      const store = new MemoryStore();
      const registry = new Registry(store);
      await registry.addModel(model('m', '1', 3));
      await registry.addModel(model('m', '2', 3), undefined, { loss: 0.1 });
      return { store, registry };
    }

    it('leave the current version, survive a restart, and end once, for whoever sees it first', async () => {
      const { store, registry } = await withTwo();
      const record = { model: 'm', candidate: '2', incumbent: '1', number: 1, parameters: { loss: 0.1 } };
      expect(registry.currentVersion('m')).toBe('1');
      expect(registry.canary('m')).toEqual(record);
      const other = new Registry(store);
      expect(other.canaries()).toEqual([record]);
      const end = { kind: 'promoted', reason: 'so' } as const;
      expect(await Promise.all([other.endCanary('m', 1, end), registry.endCanary('m', 1, end)])).toEqual([
        true,
        false,
      ]);
      expect(registry.canary('m')).toEqual({ ...record, end });
      expect(registry.currentVersion('m')).toBe('2');
      expect(registry.versionsBefore('m')).toEqual(['1']);
      expect(await registry.endCanary('m', 1, end)).toBe(false);
    });

    it('end when any version is made current, or the candidate is deleted; the next one has the next number', async () => {
      const { registry } = await withTwo();
      await registry.addModel(model('m', '3', 3));
      expect(registry.canary('m')?.end).toEqual({
        kind: 'aborted',
        reason: "version '3' was made the current one",
      });
      await registry.startCanary('m', '2', {});
      expect(registry.canary('m')).toMatchObject({ number: 2, incumbent: '3' });
      await registry.setCurrentVersion('m', '2');
      expect(registry.canary('m')?.end).toMatchObject({ kind: 'promoted' });
      await registry.startCanary('m', '1', {});
      await registry.deleteVersion('m', '1');
      expect(registry.canary('m')?.end).toEqual({ kind: 'aborted', reason: 'it was deleted' });
      // Nothing is switched, and yet somebody wants this one to answer and no other.
      await registry.startCanary('m', '3', {});
      await registry.setCurrentVersion('m', '2');
      expect(registry.canary('m')?.end).toEqual({
        kind: 'aborted',
        reason: "version '2' was made the current one",
      });
      expect(registry.currentVersion('m')).toBe('2');
    });

    it('have numbers of their own also when the model was deleted in between: what was learned of the former is not theirs', async () => {
      const { store, registry } = await withTwo();
      store.set(storeKey('canary', 'm', '1'), { withdrawn: true }, 0);
      await registry.deleteVersion('m', '2');
      await registry.deleteVersion('m', '1');
      expect(registry.canary('m')).toBeUndefined();
      await registry.addModel(model('m', '1', 3));
      await registry.addModel(model('m', '2', 3), undefined, {});
      expect(registry.canary('m')).toMatchObject({ number: 2, candidate: '2' });
    });

    it('are not promoted where another server has aborted them first', async () => {
      const store = new MeanwhileStore();
      const registry = new Registry(store);
      const other = new Registry(store);
      await registry.addModel(model('m', '1', 3));
      await registry.addModel(model('m', '2', 3), undefined, {});
      let aborted: Promise<boolean> | undefined;
      store.before = () => {
        aborted = other.endCanary('m', 1, { kind: 'aborted', reason: 'no' });
      };
      expect(await registry.endCanary('m', 1, { kind: 'promoted', reason: 'so' })).toBe(false);
      expect(await aborted).toBe(true);
      expect(registry.canary('m')?.end?.kind).toBe('aborted');
      expect(registry.currentVersion('m')).toBe('1');
      expect(registry.versionsBefore('m')).toEqual([]);
    });

    it('are refused beside nothing, beside another, of other inputs, and with parameters that are none', async () => {
      const { registry } = await withTwo();
      const add = (version: string, canary: Json, name = 'm', length = 3) =>
        registry.addModel(model(name, version, length), undefined, canary);
      await expect(add('1', {}, 'n')).rejects.toMatchObject({ code: 'no_incumbent' });
      await expect(add('3', {})).rejects.toMatchObject({ code: 'canary_running' });
      await registry.endCanary('m', 1, { kind: 'aborted', reason: '' });
      await expect(registry.startCanary('m', '1', {})).rejects.toMatchObject({ code: 'no_incumbent' });
      await expect(add('3', {}, 'm', 4)).rejects.toMatchObject({
        code: 'input_type_mismatch',
        message: expect.stringContaining("model 'm 3' takes 4 elements") as string,
      });
      await expect(add('3', { loss: 2 })).rejects.toMatchObject({
        code: 'invalid_policy',
        field: 'canary.loss',
      });
      await expect(add('3', { candidate: '3' })).rejects.toMatchObject({ field: 'canary.candidate' });
      expect(registry.model('m', '3')).toBeUndefined();
      expect(registry.canary('n')).toBeUndefined();
      // What a replica says of itself is held to the same.
      await registry.addModel(model('m', '5'), undefined, {});
      expect(() => registry.checkDeclared(registry.requireVersion('m', '5'), { length: 4 })).toThrow(
        /takes 4 elements/,
      );
    });
  });

  it('deletes the links of an application with it', async () => {
    const registry = new Registry(new MemoryStore());
    await registry.addApplication(application);
    await registry.addModel(model('m', '1'));
    await registry.addLinks('a', ['m']);
    await registry.deleteApplication('a');
    await registry.addApplication(application);
    expect(registry.linkedModels('a')).toEqual([]);
  });

  it('says when a change is not durable', async () => {
    class FullStore extends MemoryStore {
      override set(...[, , , done]: Parameters<MemoryStore['set']>): void {
        const outcome: StoreOutcome = {
          ok: false,
          reason: 'failed',
          cause: 'diskFull',
          message: 'no space left',
        };
        queueMicrotask(() => done?.(outcome));
      }
    }
    const registry = new Registry(new FullStore());
    await expect(registry.addApplication(application)).rejects.toMatchObject({
      code: 'storage_full',
      message: expect.stringContaining('no space left') as string,
    });
  });
});
