import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../../selection/index.js';
import type { Store, StoreChange, StoreOutcome } from '../index.js';

export function setValue(
  store: Store,
  key: string,
  value: Json | undefined,
  expected: number | 'any' = 'any',
): Promise<StoreOutcome> {
  return new Promise((resolve) => store.set(key, value, expected, resolve));
}

/** What every store must do. `open` gives an empty one; `cleanUp` runs after it is closed. */
export function storeConformance(
  name: string,
  open: () => Store,
  cleanUp: () => void = () => undefined,
): void {
  describe(`${name}: store conformance`, () => {
    let store: Store;
    beforeEach(() => {
      store = open();
    });
    afterEach(async () => {
      await new Promise<void>((resolve) => store.close(resolve));
      cleanUp();
    });

    it('has nothing at first', () => {
      expect(store.get('a')).toBeUndefined();
      expect(store.list('')).toEqual([]);
    });

    it('shows a write at once and counts versions from 1', async () => {
      const first = setValue(store, 'a', { x: [1, 'two', null] });
      expect(store.get('a')).toEqual({ value: { x: [1, 'two', null] }, version: 1 });
      expect(await first).toEqual({ ok: true, version: 1 });
      expect(await setValue(store, 'a', 2)).toEqual({ ok: true, version: 2 });
      expect(store.get('a')).toEqual({ value: 2, version: 2 });
    });

    it('writes only over the expected version', async () => {
      expect(await setValue(store, 'a', 1, 1)).toEqual({ ok: false, reason: 'conflict', current: undefined });
      expect(await setValue(store, 'a', 1, 0)).toEqual({ ok: true, version: 1 });
      expect(await setValue(store, 'a', 2, 0)).toEqual({
        ok: false,
        reason: 'conflict',
        current: { value: 1, version: 1 },
      });
      expect(await setValue(store, 'a', 3, 1)).toEqual({ ok: true, version: 2 });
      expect(store.get('a')).toEqual({ value: 3, version: 2 });
    });

    it('lets exactly one of many equal registrations win', async () => {
      const outcomes = await Promise.all(Array.from({ length: 20 }, (_, i) => setValue(store, 'app', i, 0)));
      expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
      expect(store.get('app')?.value).toBe(outcomes.findIndex((outcome) => outcome.ok));
    });

    it('deletes, and counts a key anew afterwards', async () => {
      await setValue(store, 'a', 1);
      expect((await setValue(store, 'a', undefined, 1)).ok).toBe(true);
      expect(store.get('a')).toBeUndefined();
      expect(store.list('a')).toEqual([]);
      expect(await setValue(store, 'a', 5, 0)).toEqual({ ok: true, version: 1 });
    });

    it('lists a prefix in key order', async () => {
      for (const key of ['b/2', 'a', 'b/10', 'b/1', 'bb', 'c']) await setValue(store, key, key);
      expect(store.list('b/').map(({ key, entry }) => [key, entry.value])).toEqual([
        ['b/1', 'b/1'],
        ['b/10', 'b/10'],
        ['b/2', 'b/2'],
      ]);
      expect(store.list('').map(({ key }) => key)).toEqual(['a', 'b/1', 'b/10', 'b/2', 'bb', 'c']);
      await setValue(store, 'b/10', undefined);
      expect(store.list('b/').map(({ key }) => key)).toEqual(['b/1', 'b/2']);
    });

    it('tells watchers of each change under their prefix until they leave', async () => {
      const changes: StoreChange[] = [];
      const unwatch = store.watch('a/', (change) => changes.push(change));
      await setValue(store, 'a/1', 'x');
      await setValue(store, 'b/1', 'y');
      await setValue(store, 'a/1', 'refused', 7);
      await setValue(store, 'a/1', undefined);
      unwatch();
      await setValue(store, 'a/2', 'z');
      expect(changes).toEqual([
        { key: 'a/1', value: { value: 'x', version: 1 } },
        { key: 'a/1', value: undefined },
      ]);
    });

    it('flushes what was written before', async () => {
      let written = 0;
      for (let i = 0; i < 50; i++) store.set(`k/${i}`, i, 'any', () => (written += 1));
      await new Promise<void>((resolve) => store.flush(resolve));
      expect(written).toBe(50);
    });
  });
}
