import { connectRedis, keyPrefix, openRedis, redisAddress, type RedisConnection } from '../redis/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { expect, it } from 'vitest';
import { RedisBundles } from './redisBundles.js';
import { bundleConformance } from './tests/bundleConformance.js';

let server: RedisServer;
let redis: RedisConnection;

async function open(words: readonly string[] = []): Promise<RedisBundles> {
  server = await RedisServer.start({ isDurable: false, words });
  const address = redisAddress(server.url);
  redis = openRedis(address, { name: 'test', kind: 'command', onError: () => undefined });
  await connectRedis(redis, address);
  return new RedisBundles(redis, keyPrefix('test'));
}

async function cleanUp(): Promise<void> {
  redis.disconnect();
  await server.stop();
}

bundleConformance('RedisBundles', () => open(), cleanUp);

const bytes = async function* (count: number): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  for (let at = 0; at < count; at++) yield Buffer.alloc(2 ** 20, at);
};

it('says that Redis is full, and what to do; what was begun is gone in an hour, and what is whole stays', async () => {
  const store = await open(['--maxmemory', '8mb']);
  const whole = 'a'.repeat(64);
  await store.put(whole, { files: [{ name: 'x', size: 2 ** 20 }] }, bytes(1));
  await expect(
    store.put('b'.repeat(64), { files: [{ name: 'x', size: 2 ** 25 }] }, bytes(32)),
  ).rejects.toThrow(/OOM.*raise its maxmemory, or keep bundles in a shared folder/);
  for (const key of await redis.keys('*')) {
    expect([key.includes('b'.repeat(64)), await redis.ttl(key)]).toSatisfy(
      ([isBegun, ttl]: [boolean, number]) => (isBegun ? ttl > 3000 && ttl <= 3600 : ttl === -1),
    );
  }
  await store.remove(whole);
  expect(await store.has(whole)).toBe(false);
  await cleanUp();
});
