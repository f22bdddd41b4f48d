import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { redisAddress } from '../../redis/index.js';
import { CuttingProxy } from '../../redis/tests/cuttingProxy.js';
import { RedisServer } from '../../redis/tests/redisServer.js';
import { closeStore, setValue } from '../tests/conformance.js';
import { openRedisStore, type RedisStore } from './index.js';
import { fault, imageOf, settled, shows, Watched } from './tests/stores.js';

let server: RedisServer;
let admin: Redis;
const stores: RedisStore[] = [];
let copy: string;

beforeEach(async () => {
  server = await RedisServer.start();
  admin = new Redis(server.port, '127.0.0.1');
  admin.on('error', () => undefined);
  copy = mkdtempSync(join(tmpdir(), 'windjammer-redis-copy-'));
});
afterEach(async () => {
  await Promise.all(stores.splice(0).map(closeStore));
  admin.disconnect();
  await server.stop();
  rmSync(copy, { recursive: true, force: true });
});

async function openStore(url = server.url): Promise<RedisStore> {
  const store = await openRedisStore({
    address: redisAddress(url),
    prefix: 'lost',
    complain: () => undefined,
  });
  stores.push(store);
  return store;
}

/** What lies on disk now is what Redis has when `goBack` has run. */
const keepCopy = () => cpSync(server.folder, copy, { recursive: true });
async function goBack(): Promise<void> {
  await server.kill();
  rmSync(server.folder, { recursive: true });
  execFileSync('cp', ['-r', copy, server.folder]);
  await server.run();
}

describe('a Redis that has lost changes', () => {
  it('is noticed when it was started from an older snapshot, and can be repaired from a frontend', async () => {
    const [a, b] = [await openStore(), await openStore()];
    await setValue(a, 'k', 'old');
    await settled([a, b]);
    keepCopy();
    await setValue(a, 'k', 'new');
    await setValue(b, 'only', 'new');
    await settled([a, b]);
    const whole = imageOf(a);
    await goBack();
    const [fault1] = await Promise.all([fault(a, 'behind'), fault(b, 'behind')]);
    expect(fault1?.message).toMatch(/lost changes.*windjammer cluster repair/);
    expect(await setValue(a, 'k', 'refused')).toMatchObject({ ok: false, cause: 'behind' });
    expect(imageOf(a)).toBe(whole);
    // Who comes now serves what there is, and writes nothing.
    const late = await openStore();
    expect(late.fault()?.cause).toBe('behind');
    expect(late.get('k')?.value).toBe('old');
    const watched = new Watched(late);
    const seen = shows(late, 'k', 'new');
    await b.repair();
    await seen;
    await Promise.all([a, b, late].map((store) => fault(store, undefined)));
    expect(watched.entries.get('only')).toEqual({ value: 'new', version: 1 });
    expect(imageOf(a)).toBe(whole);
    expect(imageOf(late)).toBe(whole);
    expect(await setValue(late, 'k', 'after', 2)).toEqual({ ok: true, version: 3 });
    await settled([a, b, late]);
    expect(imageOf(a)).toBe(imageOf(late));
    expect(imageOf(await openStore())).toBe(imageOf(late));
    await expect(a.repair()).rejects.toThrow(/needs no repair/);
  });

  it('is noticed by a frontend that comes back when others have written on', async () => {
    const [a, b] = [await openStore(), await openStore()];
    await setValue(a, 'k', 'old');
    await settled([a, b]);
    keepCopy();
    await closeStore(b);
    // Only one has seen these.
    for (let i = 0; i < 3; i++) await setValue(a, 'k', `new ${i}`);
    const away = fault(a, 'unreachable');
    await server.kill();
    await away;
    await goBack();
    const c = await openStore();
    // As many as were lost, or more.
    for (let i = 0; i < 50; i++) await setValue(c, 'k', `other ${i}`);
    await Promise.all([fault(a, 'behind'), fault(c, 'behind')]);
    expect(a.get('k')?.value).toBe('new 2');
    await a.repair();
    await fault(c, undefined);
    expect(c.get('k')).toEqual(a.get('k'));
  });

  it('is noticed also where the changes since then are long gone from the stream', async () => {
    const proxy = await CuttingProxy.start(server.port);
    try {
      const a = await openStore(proxy.url);
      await setValue(a, 'k', 'old');
      keepCopy();
      for (let i = 0; i < 3; i++) await setValue(a, 'k', `new ${i}`);
      const away = fault(a, 'unreachable');
      proxy.down();
      await away;
      await goBack();
      const c = await openStore();
      for (let i = 0; i < 50; i++) await setValue(c, 'k', `other ${i}`);
      const [stream] = await admin.keys('{lost}:store:changes:*');
      await admin.xtrim(stream, 'MAXLEN', 1);
      proxy.mend();
      const [told] = await Promise.all([fault(a, 'behind'), fault(c, 'behind')]);
      expect(told?.message).toMatch(/was started with changes up to 1 only/);
      expect(a.get('k')?.value).toBe('new 2');
      await closeStore(a);
    } finally {
      await proxy.stop();
    }
  });

  it('heals by itself where its data is brought back', async () => {
    const a = await openStore();
    await setValue(a, 'k', 'old');
    keepCopy();
    await setValue(a, 'k', 'new');
    const right = mkdtempSync(join(tmpdir(), 'windjammer-redis-right-'));
    cpSync(server.folder, right, { recursive: true });
    await goBack();
    await fault(a, 'behind');
    rmSync(copy, { recursive: true });
    execFileSync('cp', ['-r', right, copy]);
    rmSync(right, { recursive: true });
    await goBack();
    await fault(a, undefined);
    expect(await setValue(a, 'k', 'after', 2)).toEqual({ ok: true, version: 3 });
  });

  it('is noticed within a second when it is flushed, also by who starts then', async () => {
    const [a, b] = [await openStore(), await openStore()];
    await setValue(a, 'k', 1);
    await settled([a, b]);
    await admin.flushall();
    // At once by whoever writes.
    expect(await setValue(a, 'k', 2)).toMatchObject({ ok: false });
    await Promise.all([fault(a, 'behind'), fault(b, 'behind')]);
    expect(b.get('k')?.value).toBe(1);
    const late = await openStore();
    expect(late.fault()?.cause).toBe('behind');
    await a.repair();
    await Promise.all([b, late].map((store) => fault(store, undefined)));
    await settled([a, b, late]);
    expect(late.get('k')).toEqual({ value: 1, version: 1 });
  });

  it('stops those who began on the empty one, too', async () => {
    const a = await openStore();
    await setValue(a, 'k', 1);
    const away = fault(a, 'unreachable');
    await server.kill();
    await away;
    rmSync(server.folder, { recursive: true });
    execFileSync('mkdir', [server.folder]);
    await server.run();
    const late = await openStore().catch((error: unknown) => error as Error);
    await fault(a, 'behind');
    if (late instanceof Error) throw late;
    await fault(late, 'behind');
    await a.repair();
    await fault(late, undefined);
    await settled([a, late]);
    expect(late.get('k')?.value).toBe(1);
  });
});
