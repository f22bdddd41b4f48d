import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EmbeddedStore, MemoryStore, type Store } from '../store/index.js';
import { AccessError, AccessKeys, newKeyText, ServerAccess } from './index.js';

const closed = (store: Store) => new Promise<void>((resolve) => store.close(resolve));

describe('keys in a store', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-keys-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('survive a restart, with what they are limited to', async () => {
    let store = new EmbeddedStore(folder);
    let keys = new AccessKeys(store);
    const { text, record } = await keys.add({
      name: 'mobile',
      scopes: ['predict', 'feedback'],
      applications: ['digits'],
      lifetimeMs: 60_000,
    });
    keys.close();
    await closed(store);

    store = new EmbeddedStore(folder);
    keys = new AccessKeys(store);
    expect(keys.list()).toEqual([record]);
    const key = keys.find(record.id);
    expect(key?.permits('predict')).toBe(true);
    expect(key?.permits('metrics')).toBe(false);
    expect(key?.covers('application', 'digits')).toBe(true);
    expect(key?.covers('application', 'other')).toBe(false);
    expect(key?.covers('model', 'digits')).toBe(false);
    // Nothing that is kept lets anybody in.
    const kept = JSON.stringify(store.list(''));
    expect(kept).toContain(record.id);
    expect(kept).not.toContain(text.slice(-64));
    keys.close();
    await closed(store);
    // The first that waits for a disk: after an installation for as long as that takes to be written, 40 s once.
  }, 180_000);

  it('stay removed after a restart', async () => {
    let store = new EmbeddedStore(folder);
    let keys = new AccessKeys(store);
    const { record } = await keys.add({ name: 'a', scopes: ['predict'] });
    await keys.remove(record.id);
    keys.close();
    await closed(store);
    store = new EmbeddedStore(folder);
    keys = new AccessKeys(store);
    expect(keys.find(record.id)).toBeUndefined();
    keys.close();
    await closed(store);
  });
});

describe('keys', () => {
  const at = 1_000_000;
  const make = (startKey?: string) => new AccessKeys(new MemoryStore(), startKey, () => at);

  it('are all different, and recognisable', async () => {
    const keys = make();
    const added = await Promise.all(
      Array.from({ length: 200 }, (_, i) => keys.add({ name: `${i}`, scopes: ['predict'] })),
    );
    expect(new Set(added.map(({ text }) => text)).size).toBe(200);
    for (const { text, record } of added) expect(text).toMatch(new RegExp(`^wj_${record.id}_[0-9a-f]{64}$`));
    expect(keys.list()).toHaveLength(200);
  });

  it('are added and removed at the same time without losing one', async () => {
    const keys = make();
    const admin = await keys.add({ name: 'admin', scopes: ['admin'] });
    const first = await Promise.all(
      Array.from({ length: 50 }, (_, i) => keys.add({ name: `first ${i}`, scopes: ['metrics'] })),
    );
    const removals = first.map(({ record }) => keys.remove(record.id));
    const again = first.map(({ record }) => keys.remove(record.id));
    const second = Array.from({ length: 50 }, (_, i) =>
      keys.add({ name: `second ${i}`, scopes: ['metrics'] }),
    );
    await Promise.all([...removals, ...second]);
    const outcomes = await Promise.allSettled(again);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'unknown_key' } });
    const names = keys.list().map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('second'))).toHaveLength(50);
    expect(names.filter((name) => name.startsWith('first'))).toHaveLength(0);
    expect(names).toContain(admin.record.name);
  });

  it('never leave a server that nobody may administer', async () => {
    const keys = make();
    expect(keys.canAdminister()).toBe(false);
    const one = await keys.add({ name: 'one', scopes: ['admin'] });
    const two = await keys.add({ name: 'two', scopes: ['admin'] });
    // Both at once: only one of them may go.
    const outcomes = await Promise.allSettled([keys.remove(one.record.id), keys.remove(two.record.id)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(outcomes[1]).toMatchObject({ reason: { code: 'last_admin_key' } });
    expect(keys.canAdminister()).toBe(true);
    await keys.remove(two.record.id, true);
    expect(keys.canAdminister()).toBe(false);
  });

  it('take the one that was given at the start, which cannot be removed', async () => {
    const text = newKeyText();
    const keys = make(text);
    const id = text.slice(3, 19);
    expect(keys.canAdminister()).toBe(true);
    expect(keys.find(id)?.permits('admin')).toBe(true);
    expect(keys.list()).toMatchObject([{ id, scopes: ['admin'] }]);
    await expect(keys.remove(id)).rejects.toMatchObject({ code: 'last_admin_key' });
    const other = await keys.add({ name: 'other', scopes: ['admin'] });
    await keys.remove(other.record.id);
    expect(() => make('secret')).toThrow(AccessError);
  });

  it.each([
    [{ scopes: [] }, 'invalid_value', 'scopes'],
    [{ scopes: ['predict'], applications: ['a/b'] }, 'invalid_name', 'applications[0]'],
    [{ scopes: ['predict'], models: ['m', ''] }, 'invalid_name', 'models[1]'],
    [{ scopes: ['predict', 'metrics'], applications: ['a'] }, 'conflicting_fields', 'applications'],
    [{ scopes: ['admin'], models: ['m'] }, 'conflicting_fields', 'models'],
    [{ scopes: ['predict'], lifetimeMs: 0 }, 'invalid_value', 'lifetime_seconds'],
  ] as const)('are refused as %j', async (wanted, code, field) => {
    await expect(make().add({ name: 'x', ...wanted })).rejects.toMatchObject({ code, field });
  });

  it('let go of what holds them when they are removed, once', async () => {
    const keys = make();
    const { record } = await keys.add({ name: 'a', scopes: ['predict'] });
    const key = keys.find(record.id);
    let ended = 0;
    let released = 0;
    key?.hold(() => (ended += 1));
    key?.hold(() => (released += 1))();
    await keys.remove(record.id);
    key?.end();
    expect([ended, released]).toEqual([1, 0]);
    expect(key?.isLive(at)).toBe(false);
  });

  it('let go of what holds them when they expire', async () => {
    const keys = new AccessKeys(new MemoryStore());
    const { record } = await keys.add({ name: 'a', scopes: ['predict'], lifetimeMs: 20 });
    await new Promise<void>((resolve) => {
      keys.find(record.id)?.hold(resolve);
      // The timer of a key keeps no process alive; the test's does.
      setTimeout(() => undefined, 10_000).unref();
    });
    expect(keys.find(record.id)?.isLive(Date.now())).toBe(false);
  });
});

describe('a server', () => {
  const told: string[] = [];
  const open = (store: Store, required: boolean, adminKey?: string) =>
    new ServerAccess(store, { required, adminKey }, (message) => told.push(message));

  it('does not start where keys are required and nobody could make one', async () => {
    const store = new MemoryStore();
    expect(() => open(store, true)).toThrow(AccessError);
    const keys = new AccessKeys(store);
    await keys.add({ name: 'client', scopes: ['predict'] });
    expect(() => open(store, true)).toThrow(/windjammer key add NAME --scope admin --data-dir DIR/);
    await keys.add({ name: 'admin', scopes: ['admin'] });
    expect(open(store, true).required).toBe(true);
    expect(open(new MemoryStore(), true, newKeyText()).required).toBe(true);
    expect(() => open(new MemoryStore(), true, 'secret')).toThrow(AccessError);
  });

  it('that is given an admin key requires keys, also when it is not told to', () => {
    const access = open(new MemoryStore(), false, newKeyText());
    expect(access.required).toBe(true);
    expect(access.denials()).toHaveLength(14);
  });

  it('that asks nobody says so when there are keys', async () => {
    const store = new MemoryStore();
    expect(open(store, false).queryGate).toBeUndefined();
    expect(told).toEqual([]);
    await new AccessKeys(store).add({ name: 'client', scopes: ['predict'] });
    expect(open(store, false).required).toBe(false);
    expect(told).toEqual(['there are keys and nobody is asked for one: start with --require-keys']);
  });
});
