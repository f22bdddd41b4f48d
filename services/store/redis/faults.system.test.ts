import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { redisAddress } from '../../redis/index.js';
import { RedisServer, type RedisServerOptions } from '../../redis/tests/redisServer.js';
import { closeStore, setOnce, setValue } from '../tests/conformance.js';
import { openRedisStore, type RedisStore } from './index.js';
import { fault } from './tests/stores.js';

const servers: RedisServer[] = [];
const stores: RedisStore[] = [];
const admins: Redis[] = [];
afterEach(async () => {
  await Promise.all(stores.splice(0).map(closeStore));
  for (const admin of admins.splice(0)) admin.disconnect();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function startServer(options?: RedisServerOptions): Promise<RedisServer> {
  const server = await RedisServer.start(options);
  servers.push(server);
  return server;
}

function adminOf(server: RedisServer): Redis {
  const admin = new Redis(server.port, '127.0.0.1');
  admin.on('error', () => undefined);
  admins.push(admin);
  return admin;
}

async function openStore(url: string, complaints: string[] = []): Promise<RedisStore> {
  const store = await openRedisStore({
    address: redisAddress(url),
    prefix: 'faulty',
    complain: (message) => void complaints.push(message),
  });
  stores.push(store);
  return store;
}

describe('a store whose Redis takes no changes', () => {
  it('says that its memory is full, and goes on when there is room', async () => {
    const server = await startServer();
    const admin = adminOf(server);
    const store = await openStore(server.url);
    await setValue(store, 'k', 1);
    await admin.config('SET', 'maxmemory', '1');
    const outcomes = await Promise.all([1, 2, 3].map((i) => setValue(store, 'k', i)));
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ ok: false, reason: 'failed', cause: 'memoryFull' });
      expect(outcome).toMatchObject({
        message: expect.stringMatching(/maxmemory.*OOM command not allowed/) as string,
      });
    }
    expect(store.get('k')).toEqual({ value: 1, version: 1 });
    await admin.config('SET', 'maxmemory', '0');
    await fault(store, undefined);
    expect(await setValue(store, 'k', 2, 1)).toEqual({ ok: true, version: 2 });
  });

  it('says that it became a read-only replica', async () => {
    const [primary, server] = [await startServer(), await startServer()];
    const admin = adminOf(server);
    const store = await openStore(server.url);
    await setValue(store, 'k', 1);
    await admin.call('REPLICAOF', '127.0.0.1', String(primary.port));
    const told = fault(store, 'readOnly');
    expect(await setValue(store, 'k', 2)).toMatchObject({ ok: false, reason: 'failed' });
    expect((await told)?.message).toMatch(/read-only replica: give the address of the primary/);
    expect(store.get('k')).toEqual({ value: 1, version: 1 });
  });

  it('says that it cannot save', async () => {
    const server = await startServer({ isDurable: false, words: ['--save', '3600 1'] });
    const admin = adminOf(server);
    const store = await openStore(server.url);
    await setValue(store, 'k', 1);
    mkdirSync(join(server.folder, 'dump.rdb', 'in-the-way'), { recursive: true });
    await admin.bgsave();
    while (!(await admin.info('persistence')).includes('rdb_last_bgsave_status:err'));
    expect(await setValue(store, 'k', 2)).toMatchObject({ cause: 'snapshotFailed' });
    await admin.config('SET', 'stop-writes-on-bgsave-error', 'no');
    await fault(store, undefined);
    expect(await setValue(store, 'k', 2, 1)).toMatchObject({ ok: true });
  });

  it('says that the user may no longer do it, or is another', async () => {
    const server = await startServer();
    const admin = adminOf(server);
    // As docs/guides/shared-store.md has it.
    const rights = [
      '~{faulty}:*',
      '+@read',
      '+@write',
      '+@scripting',
      '+@connection',
      '-@dangerous',
      '+info',
      '+time',
    ];
    await admin.call('ACL', 'SETUSER', 'w', 'on', '>pw', ...rights);
    const store = await openStore(server.url.replace('//', '//w:pw@'));
    await setValue(store, 'k', 1);
    for (const [index, command] of ['hset', 'xadd', 'hdel'].entries()) {
      await admin.call('ACL', 'SETUSER', 'w', `-${command}`);
      const marks = [`m${index}`];
      const before = store.get('k');
      expect(await setOnce(store, 'k', 'refused', 'any', marks)).toMatchObject({ cause: 'accessDenied' });
      await admin.call('ACL', 'SETUSER', 'w', `+${command}`);
      await fault(store, undefined);
      // Nothing of it is there, not even a part.
      expect(store.get('k')).toEqual(before);
      expect(await setOnce(store, 'k', index, index + 1, marks)).toEqual({ ok: true, version: index + 2 });
    }
    await admin.call('ACL', 'SETUSER', 'w', 'resetpass', '>other');
    await admin.call('CLIENT', 'KILL', 'USER', 'w');
    expect(await fault(store, 'accessDenied')).toBeDefined();
    await admin.call('ACL', 'SETUSER', 'w', '>pw');
    await fault(store, undefined);
    expect(await setValue(store, 'k', 3, 4)).toEqual({ ok: true, version: 5 });
  });
});

describe('a store that cannot be opened', () => {
  it('says who is refused: a wrong password, a user who may not write', async () => {
    const server = await startServer({ words: ['--requirepass', 'right'] });
    await expect(openStore(server.url.replace('//', '//:wrong@'))).rejects.toThrow(/WRONGPASS/);
    const url = server.url.replace('//', '//:right@');
    const store = await openStore(url);
    await setValue(store, 'k', 1);
    const admin = new Redis(url);
    admins.push(admin);
    await admin.call('ACL', 'SETUSER', 'reader', 'on', '>pw', '~*', '+@all', '-xadd');
    await expect(openStore(server.url.replace('//', '//reader:pw@'))).rejects.toThrow(
      /refuses the user, the password or what the user does.*can't run this command/,
    );
  });

  it('names the key of another program, a newer schema, and a state without its meta key', async () => {
    const server = await startServer();
    const admin = adminOf(server);
    await admin.set('{faulty}:store:meta', 'x');
    await expect(openStore(server.url)).rejects.toThrow(/\{faulty\}:store:meta is a string/);
    await admin.del('{faulty}:store:meta');
    await admin.hset('{faulty}:store:state', 'a', '1 1');
    await expect(openStore(server.url)).rejects.toThrow(
      /:store:state is there without \{faulty\}:store:meta/,
    );
    await admin.del('{faulty}:store:state');
    await admin.set('{faulty}_session_1', 'x');
    await expect(openStore(server.url)).rejects.toThrow(/\{faulty\}_session_1 .*--redis-prefix/);
    await admin.del('{faulty}_session_1');
    await setValue(await openStore(server.url), 'k', 1);
    await admin.hset('{faulty}:store:meta', 'schema', '2');
    await expect(openStore(server.url)).rejects.toThrow(/has schema 2, this program knows up to 1/);
  });

  it('warns of a Redis that keeps nothing, or throws keys away', async () => {
    const server = await startServer({
      isDurable: false,
      words: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'],
    });
    const complaints: string[] = [];
    await openStore(server.url, complaints);
    expect(complaints).toEqual([
      expect.stringMatching(/no append-only file/),
      expect.stringMatching(/maxmemory-policy noeviction/),
    ]);
  });
});
