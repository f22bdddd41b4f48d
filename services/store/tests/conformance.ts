import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../../selection/index.js';
import {
  coldFolder,
  coldKey,
  type ColdSlice,
  type OnceOutcome,
  type Store,
  type StoreChange,
  type StoreFault,
  type StoreOutcome,
} from '../index.js';

export function setValue(
  store: Store,
  key: string,
  value: Json | undefined,
  expected: number | 'any' = 'any',
): Promise<StoreOutcome> {
  return new Promise((resolve) => store.set(key, value, expected, resolve));
}

export function setOnce(
  store: Store,
  key: string,
  value: Json | undefined,
  expected: number | 'any',
  marks: readonly string[],
): Promise<OnceOutcome> {
  return new Promise((resolve) => store.setOnce(key, value, expected, marks, resolve));
}

/** Until a cold key is held. */
export function held(store: Store, key: string): Promise<StoreFault | undefined> {
  return new Promise((resolve) => {
    if (store.hold(key, resolve)) resolve(undefined);
  });
}

/** All of a folder: versions and values by key. */
export async function sliced(
  store: Store,
  folder: string,
): Promise<Readonly<Record<string, readonly [version: number, value: Json]>>> {
  const found: [string, readonly [number, Json]][] = [];
  for (let from: string | undefined, isFirst = true; isFirst || from !== undefined; isFirst = false) {
    const slice = await new Promise<ColdSlice>((resolve) => store.slice(folder, from, resolve));
    if (!slice.ok) throw new Error(slice.message);
    for (const { key, version, json } of slice.entries)
      found.push([key, [version, JSON.parse(json) as Json]]);
    from = slice.next;
  }
  return Object.fromEntries(found.sort(([one], [other]) => (one < other ? -1 : 1)));
}

export const closeStore = (store: Store) => new Promise<void>((resolve) => store.close(resolve));

export interface StoreSubject {
  /** Gives an empty one. */
  readonly open: () => Store | Promise<Store>;
  /** Opens what `open` gave, closed since, once more; absent where it ends with its process. */
  readonly reopen?: (() => Store | Promise<Store>) | undefined;
  /** From here on nothing can be kept, which the store has not been told. */
  readonly breakStore?: (() => void | Promise<void>) | undefined;
  /** Undoes `breakStore`. */
  readonly mendStore?: (() => void | Promise<void>) | undefined;
  /** Runs after the store is closed. */
  readonly cleanUp?: (() => void | Promise<void>) | undefined;
}

/** What every store must do. */
export function storeConformance(name: string, subject: StoreSubject): void {
  const { reopen, breakStore, mendStore } = subject;
  describe(`${name}: store conformance`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await subject.open();
    });
    afterEach(async () => {
      await closeStore(store);
      await subject.cleanUp?.();
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

    it('holds cold keys while they are asked for, and has them all the time', async () => {
      const folder = coldFolder('conformance', 'a');
      const keys = ['x', 'ü/%', 'z'].map((name) => coldKey(folder, name));
      for (const [at, key] of keys.entries()) {
        expect(await held(store, key)).toBeUndefined();
        expect(store.get(key)).toBeUndefined();
        expect(await setValue(store, key, { at, text: 'x'.repeat(at) }, 0)).toEqual({ ok: true, version: 1 });
        expect(await setOnce(store, key, { at }, 1, [`mark ${at}`])).toEqual({ ok: true, version: 2 });
        expect(store.get(key)).toEqual({ value: { at }, version: 2 });
        store.release(key);
      }
      expect(await held(store, keys[1])).toBeUndefined();
      expect(store.get(keys[1])).toEqual({ value: { at: 1 }, version: 2 });
      // Held twice, released once.
      expect(await held(store, keys[1])).toBeUndefined();
      store.release(keys[1]);
      expect(await setValue(store, keys[1], 'again', 2)).toEqual({ ok: true, version: 3 });
      expect(await setValue(store, keys[1], 'late', 2)).toMatchObject({ reason: 'conflict' });
      expect(await setOnce(store, keys[1], 'late', 3, ['mark 0'])).toMatchObject({ reason: 'marked' });
      store.release(keys[1]);
      expect(await sliced(store, folder)).toEqual({
        [keys[0]]: [2, { at: 0 }],
        [keys[1]]: [3, 'again'],
        [keys[2]]: [2, { at: 2 }],
      });
      // Deleted as a slice has brought it, and whatever it is.
      expect(await setValue(store, keys[0], undefined, 2)).toMatchObject({ ok: true });
      expect(await setValue(store, keys[2], undefined)).toMatchObject({ ok: true });
      expect(Object.keys(await sliced(store, folder))).toEqual([keys[1]]);
      expect(await held(store, keys[0])).toBeUndefined();
      expect(store.get(keys[0])).toBeUndefined();
      store.release(keys[0]);
      expect(await sliced(store, coldFolder('conformance', 'b'))).toEqual({});
    });

    it('goes through a folder of thousands in slices', async () => {
      const folder = coldFolder('conformance', 'many');
      for (let at = 0; at < 2500; at++) store.set(coldKey(folder, `n${at}`), at, 'any');
      store.set(coldKey(coldFolder('conformance', 'manyMore'), 'other'), 1, 'any');
      await new Promise<void>((resolve) => store.flush(resolve));
      const all = await sliced(store, folder);
      expect(Object.keys(all)).toHaveLength(2500);
      expect(all[coldKey(folder, 'n1234')]).toEqual([1, 1234]);
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

    it('writes once, with its marks or not at all', async () => {
      expect(await setOnce(store, 'a', 'first', 0, ['f1', 'f2', 'f1'])).toEqual({ ok: true, version: 1 });
      expect(await setOnce(store, 'a', 'second', 1, ['f3', 'f2', 'f1'])).toMatchObject({
        ok: false,
        reason: 'marked',
        marks: expect.toSatisfy((marks: string[]) => marks.toSorted().join() === 'f1,f2') as string[],
      });
      // Of marks hears also who comes with an old version, since that is what a writer is who writes twice.
      expect(await setOnce(store, 'a', 'first', 0, ['f1'])).toMatchObject({
        reason: 'marked',
        marks: ['f1'],
      });
      expect(store.get('a')).toEqual({ value: 'first', version: 1 });
      // What was refused has left no mark.
      expect(await setOnce(store, 'b', 'conflicting', 4, ['f3', 'f4'])).toMatchObject({ reason: 'conflict' });
      expect(await setOnce(store, 'a', 'third', 1, ['f3', 'f4'])).toEqual({ ok: true, version: 2 });
      expect(await setOnce(store, 'other', 1, 'any', ['f4'])).toMatchObject({ reason: 'marked' });
      expect(await setOnce(store, 'a', undefined, 2, ['f5'])).toMatchObject({ ok: true });
      expect(await setOnce(store, 'a', 'anew', 'any', ['f5'])).toMatchObject({ reason: 'marked' });
      expect(await setOnce(store, 'a', 'without', 'any', [])).toEqual({ ok: true, version: 1 });
    });

    it('lets exactly one of many writes with one mark win', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => setOnce(store, `k/${i}`, i, 'any', [`own ${i}`, 'shared'])),
      );
      expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
      const refused = outcomes.filter((outcome) => !outcome.ok);
      for (const outcome of refused) expect(outcome).toMatchObject({ reason: 'marked', marks: ['shared'] });
      expect(store.list('k/')).toHaveLength(1);
    });

    it('takes marks of any text, and says which none can be', async () => {
      const marks = ['ü/%2F :{x}', '\0\n', '__proto__', 'x'.repeat(512)];
      expect(await setOnce(store, 'a', 1, 'any', marks)).toMatchObject({ ok: true });
      for (const mark of marks) {
        expect(await setOnce(store, 'a', 2, 'any', [mark])).toMatchObject({
          reason: 'marked',
          marks: [mark],
        });
      }
      for (const mark of ['', 'ü'.repeat(257), '\ud800']) {
        expect(() => store.setOnce('a', 3, 'any', [mark])).toThrow(/a mark is/);
      }
      expect(store.get('a')?.version).toBe(1);
    });

    it.runIf(reopen !== undefined)('has values and marks when it is opened again', async () => {
      const value = { numbers: [0.1, 1e300, -0, 2 ** 53, 5e-324], text: 'ü\u0000\ud83d\ude00', none: null };
      await setValue(store, 'a', value);
      await setOnce(store, 'a', value, 1, ['m1']);
      store.setOnce('b', 1, 'any', ['m2']);
      await closeStore(store);
      store = (await reopen?.()) as Store;
      expect(store.get('a')).toEqual({
        value: { ...value, numbers: [0.1, 1e300, 0, 2 ** 53, 5e-324] },
        version: 2,
      });
      expect(await setOnce(store, 'a', 2, 2, ['m0', 'm1'])).toMatchObject({
        reason: 'marked',
        marks: ['m1'],
      });
      expect(await setOnce(store, 'a', 2, 2, ['m2'])).toMatchObject({ reason: 'marked' });
      expect(await setOnce(store, 'a', 2, 2, ['m0'])).toEqual({ ok: true, version: 3 });
    });

    it.runIf(reopen !== undefined)(
      'has what is cold when it is opened again, and not in memory',
      async () => {
        const key = coldKey(coldFolder('conformance', 'a'), 'x');
        store.set(key, { kept: true }, 'any');
        await closeStore(store);
        store = (await reopen?.()) as Store;
        expect(store.get(key)).toBeUndefined();
        expect(await held(store, key)).toBeUndefined();
        expect(store.get(key)).toEqual({ value: { kept: true }, version: 1 });
        expect(store.list('').map((one) => one.key)).toEqual([key]);
        store.release(key);
        expect(store.list('')).toEqual([]);
      },
    );

    it.runIf(breakStore !== undefined)('takes back what is cold, too', async () => {
      const key = coldKey(coldFolder('conformance', 'a'), 'x');
      await held(store, key);
      await setValue(store, key, 'kept', 0);
      await breakStore?.();
      const begun = new Promise((resolve) => store.watchFault(resolve));
      expect(await setValue(store, key, 'lost', 1)).toMatchObject({ reason: 'failed' });
      await begun;
      expect(store.get(key)).toEqual({ value: 'kept', version: 1 });
      const healed = new Promise((resolve) => store.watchFault(resolve));
      await mendStore?.();
      expect(await healed).toBeUndefined();
      store.release(key);
      await held(store, key);
      expect(store.get(key)).toEqual({ value: 'kept', version: 1 });
      store.release(key);
    });

    it.runIf(breakStore !== undefined)('takes back a write a write that fails, and its marks', async () => {
      await setOnce(store, 'a', 'kept', 0, ['kept']);
      const changes: StoreChange[] = [];
      store.watch('a', (change) => changes.push(change));
      await breakStore?.();
      const begun = new Promise((resolve) => store.watchFault(resolve));
      const outcomes = await Promise.all([
        setOnce(store, 'a', 'lost', 1, ['m1']),
        // Is not told that it is done, when it is not.
        setOnce(store, 'b', 'lost', 'any', ['m1', 'kept']),
      ]);
      expect(outcomes).toMatchObject([{ reason: 'failed' }, { reason: 'failed' }]);
      expect(store.get('a')).toEqual({ value: 'kept', version: 1 });
      expect(store.get('b')).toBeUndefined();
      expect(changes).toEqual([
        { key: 'a', value: { value: 'lost', version: 2 } },
        { key: 'a', value: { value: 'kept', version: 1 } },
      ]);
      expect(await begun).toBeDefined();
      const healed = new Promise((resolve) => store.watchFault(resolve));
      await mendStore?.();
      expect(await healed).toBeUndefined();
      expect(await setOnce(store, 'a', 'again', 1, ['m1'])).toEqual({ ok: true, version: 2 });
    });
  });
}
