import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { redisAddress } from '../../redis/index.js';
import { CuttingProxy } from '../../redis/tests/cuttingProxy.js';
import { RedisServer } from '../../redis/tests/redisServer.js';
import type { StoreChange } from '../index.js';
import { closeStore, setOnce, setValue } from '../tests/conformance.js';
import { openRedisStore, type RedisStore } from './index.js';
import { draws, fault, imageOf, settled, shows, Watched } from './tests/stores.js';

let server: RedisServer;
let admin: Redis;
let prefix = 0;
const stores: RedisStore[] = [];
const proxies: CuttingProxy[] = [];

beforeAll(async () => {
  server = await RedisServer.start();
  admin = new Redis(server.port, '127.0.0.1');
  admin.on('error', () => undefined);
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});
beforeEach(() => {
  prefix += 1;
});
afterEach(async () => {
  await Promise.all(stores.splice(0).map(closeStore));
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
});

async function openStore(url = server.url): Promise<RedisStore> {
  const store = await openRedisStore({
    address: redisAddress(url),
    prefix: `agree-${prefix}`,
    complain: () => undefined,
  });
  stores.push(store);
  return store;
}

async function throughProxy(): Promise<[RedisStore, CuttingProxy]> {
  const proxy = await CuttingProxy.start(server.port);
  proxies.push(proxy);
  return [await openStore(proxy.url), proxy];
}

describe('stores of one Redis', () => {
  it('agree on all changes, and tell watchers of each in order', async () => {
    const all = [await openStore(), await openStore(), await openStore()];
    const watched = all.map((store) => new Watched(store));
    const draw = draws(1);
    const writes: Promise<unknown>[] = [];
    for (let i = 0; i < 1500; i++) {
      const store = all[draw(3)];
      const key = `k/${draw(8)}`;
      const expected = draw(3) === 0 ? 'any' : (store.get(key)?.version ?? 0);
      writes.push(setValue(store, key, draw(10) === 0 ? undefined : { i, x: [0.1 * i, 'ü'] }, expected));
      if (draw(20) === 0) await writes[draw(writes.length)];
    }
    await Promise.all(writes);
    await settled(all);
    expect(imageOf(all[1])).toBe(imageOf(all[0]));
    expect(imageOf(all[2])).toBe(imageOf(all[0]));
    for (const one of watched) one.expectWhole();
    // One that comes later has the same, versions and all.
    expect(imageOf(await openStore())).toBe(imageOf(all[0]));
  });

  it('tell one another of a change within a second, and of a delete', async () => {
    const [a, b] = [await openStore(), await openStore()];
    const begun = performance.now();
    const seen = shows(b, 'k', { there: true });
    await setValue(a, 'k', { there: true });
    await seen;
    expect(performance.now() - begun).toBeLessThan(1000);
    const gone = new Promise((resolve) => b.watch('k', resolve));
    await setValue(a, 'k', undefined, 1);
    expect(await gone).toEqual({ key: 'k', value: undefined });
  });

  it('let nobody build on what was refused', async () => {
    const [a, b] = [await openStore(), await openStore()];
    await setValue(a, 'k', 'base');
    await settled([a, b]);
    // Both write over version 1, and then over what each sees: one chain must win as a whole.
    const [a1, a2, b1, b2] = await Promise.all([
      setValue(a, 'k', 'a1', 1),
      setValue(a, 'k', 'a2', 2),
      setValue(b, 'k', 'b1', 1),
      setValue(b, 'k', 'b2', 2),
    ]);
    expect(a1.ok).not.toBe(b1.ok);
    expect(a2.ok).toBe(a1.ok);
    expect(b2.ok).toBe(b1.ok);
    await settled([a, b]);
    expect(a.get('k')).toEqual({ value: a1.ok ? 'a2' : 'b2', version: 3 });
    expect(b.get('k')).toEqual(a.get('k'));
  });

  it('tell whoever is refused once he can see why', async () => {
    const [a, b] = [await openStore(), await openStore()];
    for (let i = 0; i < 50; i++) {
      const expected = a.get('k')?.version ?? 0;
      const outcomes = await Promise.all([
        setValue(a, 'k', `a${i}`, expected),
        setValue(b, 'k', `b${i}`, expected),
      ]);
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.ok) continue;
        expect(outcome).toMatchObject({ reason: 'conflict', current: { version: expected + 1 } });
        expect([a, b][index].get('k')?.version).toBeGreaterThan(expected);
      }
      await settled([a, b]);
    }
  });

  it('apply what has marks once, whoever does it', async () => {
    const all = [await openStore(), await openStore()];
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, i) => setOnce(all[i % 2], `k/${i}`, i, 'any', [`m${i % 4}`])),
    );
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(4);
    await settled(all);
    expect(all[0].list('k/')).toHaveLength(4);
    expect(imageOf(all[1])).toBe(imageOf(all[0]));
  });
});

describe('a store whose line to Redis is cut', () => {
  it('finds out what became of writes whose answers are lost, and makes none twice', async () => {
    const [store, proxy] = await throughProxy();
    const other = await openStore();
    await setValue(store, 'made', 0);
    await settled([store, other]);
    proxy.mute('answer');
    const made = setValue(store, 'made', 'once', 1);
    const built = setValue(store, 'made', 'twice', 'any');
    await shows(other, 'made', 'twice');
    // Somebody else writes on: a second try would be seen.
    await setValue(other, 'made', 'other', 3);
    proxy.cut();
    expect(await made).toEqual({ ok: true, version: 2 });
    expect(await built).toEqual({ ok: true, version: 3 });
    await settled([other, store]);
    expect(store.get('made')).toEqual({ value: 'other', version: 4 });

    await fault(store, undefined);
    proxy.mute('request');
    const lost = setValue(store, 'lost', 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(other.get('lost')).toBeUndefined();
    proxy.cut();
    expect(await lost).toEqual({ ok: true, version: 1 });
    await settled([other, store]);
    expect(imageOf(store)).toBe(imageOf(other));
  });

  it('refuses at once while it is away, serves what it has, and tells what changed meanwhile', async () => {
    const [store, proxy] = await throughProxy();
    const other = await openStore();
    await setValue(store, 'kept', 1);
    await setValue(store, 'gone', 1);
    await settled([store, other]);
    const away = fault(store, 'unreachable');
    proxy.down();
    expect((await away)?.message).toMatch(/cannot be reached/);
    expect(await setValue(store, 'kept', 2)).toMatchObject({
      ok: false,
      reason: 'failed',
      cause: 'unreachable',
    });
    expect(store.get('kept')).toEqual({ value: 1, version: 1 });
    await setValue(other, 'gone', undefined);
    await setValue(other, 'new', 'n');
    const changes: StoreChange[] = [];
    store.watch('', (change) => changes.push(change));
    const seen = shows(store, 'new', 'n');
    proxy.mend();
    await seen;
    await fault(store, undefined);
    expect(changes).toEqual([
      { key: 'gone', value: undefined },
      { key: 'new', value: { value: 'n', version: 1 } },
    ]);
    expect(await setValue(store, 'kept', 2, 1)).toEqual({ ok: true, version: 2 });
  });

  it('loads everything where the stream has been cut short, and tells exactly what is different', async () => {
    const [store, proxy] = await throughProxy();
    const other = await openStore();
    for (const key of ['same', 'changed', 'gone']) await setValue(other, key, 1);
    await settled([other, store]);
    const watched = new Watched(store);
    proxy.down();
    await fault(store, 'unreachable');
    await setValue(other, 'changed', 2);
    await setValue(other, 'gone', undefined);
    await setValue(other, 'new', 1);
    const [stream] = await admin.keys(`{agree-${prefix}}:store:changes:*`);
    await admin.xtrim(stream, 'MAXLEN', 0);
    const seen = shows(store, 'new', 1);
    proxy.mend();
    await seen;
    expect(watched.changes.map(({ key, value }) => [key, value?.value])).toEqual([
      ['changed', 2],
      ['gone', undefined],
      ['new', 1],
    ]);
    expect(imageOf(store)).toBe(imageOf(other));
  });

  it('agrees with the others after cuts at random moments', async () => {
    const [a, proxyA] = await throughProxy();
    const [b, proxyB] = await throughProxy();
    const watched = [new Watched(a), new Watched(b)];
    const draw = draws(7);
    const applied = new Map<string, number>();
    const doubtful = new Set<string>();
    const writes: Promise<void>[] = [];
    for (let i = 0; i < 3000; i++) {
      const store = [a, b][draw(2)];
      const key = `k/${draw(5)}`;
      writes.push(
        setOnce(store, key, i, 'any', [`m${i}`]).then((outcome) => {
          if (outcome.ok) applied.set(key, (applied.get(key) ?? 0) + 1);
          else if (outcome.reason === 'failed' && outcome.cause === 'unknown') doubtful.add(key);
        }),
      );
      if (draw(40) === 0) await new Promise((resolve) => setTimeout(resolve, draw(8)));
      if (draw(150) === 0) [proxyA, proxyB][draw(2)].mute(draw(2) === 0 ? 'answer' : 'request');
      if (draw(100) === 0) [proxyA, proxyB][draw(2)].cut();
    }
    proxyA.cut();
    proxyB.cut();
    await Promise.all(writes);
    await Promise.all([fault(a, undefined), fault(b, undefined)]);
    await settled([a, b]);
    expect(imageOf(a)).toBe(imageOf(b));
    for (const one of watched) one.expectWhole();
    // A version is the number of writes that were made: exactly those that were acknowledged.
    expect(doubtful.size).toBe(0);
    expect(applied.size).toBe(5);
    for (const [key, count] of applied) expect([key, a.get(key)?.version]).toEqual([key, count]);
  });
});

describe('a store whose Redis ends and comes back', () => {
  it('loses no write that was acknowledged before kill -9', async () => {
    const [a, b] = [await openStore(), await openStore()];
    const acknowledged = new Map<string, number>();
    const outcomes: Promise<void>[] = [];
    for (let i = 0; i < 400; i++) {
      if (i === 200) await outcomes[100];
      outcomes.push(
        setValue(i % 2 === 0 ? a : b, `k/${i}`, i).then((outcome) => {
          if (outcome.ok) acknowledged.set(`k/${i}`, i);
        }),
      );
    }
    await server.kill();
    await Promise.all([fault(a, 'unreachable'), fault(b, 'unreachable')]);
    expect(await setValue(a, 'refused', 1)).toMatchObject({ cause: 'unreachable' });
    await server.run();
    await Promise.all([fault(a, undefined), fault(b, undefined)]);
    await Promise.all(outcomes);
    await settled([a, b]);
    expect(acknowledged.size).toBeGreaterThan(100);
    for (const [key, value] of acknowledged) expect(b.get(key)?.value).toBe(value);
    expect(imageOf(a)).toBe(imageOf(b));
    expect(imageOf(await openStore())).toBe(imageOf(a));
  });

  it('does not wait for one that stands still, and knows in the end what was made', async () => {
    const store = await openStore();
    await setValue(store, 'k', 0);
    server.pause();
    const away = fault(store, 'unreachable');
    const write = setValue(store, 'k', 'paused', 1);
    await away;
    expect(await setValue(store, 'k', 'refused')).toMatchObject({ cause: 'unreachable' });
    server.proceed();
    expect(await write).toEqual({ ok: true, version: 2 });
    await fault(store, undefined);
    expect(store.get('k')).toEqual({ value: 'paused', version: 2 });
    expect(await setValue(store, 'k', 'after', 2)).toEqual({ ok: true, version: 3 });
  });

  it('goes on where Redis has forgotten its scripts', async () => {
    const store = await openStore();
    await setValue(store, 'k', 0);
    await admin.script('FLUSH');
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, i) => setValue(store, 'k', i, i + 1)));
    expect(outcomes.every(({ ok }) => ok)).toBe(true);
    expect(store.get('k')).toEqual({ value: 49, version: 51 });
  });
});
