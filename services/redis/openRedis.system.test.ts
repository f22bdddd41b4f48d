import { afterEach, describe, expect, it } from 'vitest';
import type { Redis } from 'ioredis';
import { connectRedis, openRedis, redisAddress, type RedisConnection } from './index.js';
import { RedisServer } from './tests/redisServer.js';
import { startTlsRedis } from './tests/redisVariants.js';

let server: RedisServer | undefined;
let redis: RedisConnection | undefined;
afterEach(async () => {
  redis?.disconnect();
  await server?.stop();
  server = undefined;
});

async function connect(text: string): Promise<RedisConnection> {
  const address = redisAddress(text);
  redis = openRedis(address, { name: 'test', kind: 'command', onError: () => undefined });
  await connectRedis(redis, address);
  return redis;
}

describe('a connection to a real Redis', () => {
  it('is made again when Redis was killed, and fails at once meanwhile', async () => {
    server = await RedisServer.start();
    const connection = await connect(server.url);
    await connection.set('a', '1');
    const away = new Promise((resolve) => connection.once('close', resolve));
    await server.kill();
    await away;
    await expect(connection.get('a')).rejects.toThrow();
    const back = new Promise((resolve) => connection.once('ready', resolve));
    await server.run();
    await back;
    expect(await connection.get('a')).toBe('1');
  });

  it('answers a command that waits when its connection is lost, or sends it again', async () => {
    server = await RedisServer.start();
    const address = redisAddress(server.url);
    for (const kind of ['waiting', 'blocking'] as const) {
      const waiting = openRedis(address, { name: `test-${kind}`, kind, onError: () => undefined });
      await connectRedis(waiting, address);
      const connection = await connect(server.url);
      const popped = waiting.blpop('list', 0);
      const outcome = popped.catch((error: unknown) => error);
      while (!/cmd=blpop/.test(String(await connection.client('LIST')))) await new Promise(setImmediate);
      await server.kill();
      await server.run();
      if (kind === 'waiting') expect(await outcome).toBeInstanceOf(Error);
      else {
        redis?.disconnect();
        await (await connect(server.url)).rpush('list', 'x');
        expect(await outcome).toEqual(['list', 'x']);
      }
      waiting.disconnect();
      redis?.disconnect();
    }
  });

  it('is waited for while Redis reads its data, for longer than one that says nothing', async () => {
    const often = ['--loading-process-events-interval-bytes', '1024'];
    server = await RedisServer.start({ words: ['--key-load-delay', '3500', ...often] });
    const writer = (await connect(server.url)) as Redis;
    await writer.mset(Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`key-${at}`, 'value'])));
    await writer.bgrewriteaof();
    await expect
      .poll(async () => /aof_rewrite_in_progress:0/.test(await writer.info('persistence')))
      .toBe(true);
    writer.disconnect();
    await server.kill();
    const { url } = server;
    const running = server.run();
    // Before it listens it refuses; from then on it is waited for.
    for (let refusal = 'ECONNREFUSED'; refusal.includes('ECONNREFUSED');) {
      refusal = await connect(url).then(() => '', String);
      if (!refusal.includes('ECONNREFUSED')) expect(refusal).toBe('');
    }
    expect(await redis?.dbsize()).toBe(2000);
    await running;
  });

  it('says who is refused, and that nobody is there', async () => {
    server = await RedisServer.start({ words: ['--requirepass', 'right'] });
    await expect(connect(server.url)).rejects.toThrow(/refuses the user or the password.*NOAUTH/);
    await expect(connect(server.url.replace('//', '//:wrong@'))).rejects.toThrow(/WRONGPASS/);
    await expect(connect(server.url.replace('//', '//:right@'))).resolves.toBeDefined();
    redis?.disconnect();
    await server.kill();
    await expect(connect(server.url)).rejects.toThrow(/cannot be reached: .*ECONNREFUSED/);
  });

  it('says what is missing where TLS is spoken, or is not', async () => {
    const tls = await startTlsRedis();
    try {
      const [plain, query] = tls.url.split('?');
      const [ca] = query.split('&');
      await expect(connect(plain)).rejects.toThrow(/self-signed certificate.*rediss:\/\/…\?ca=FILE/);
      await expect(connect(`${plain}?${ca}`)).rejects.toThrow(/\?cert=FILE&key=FILE/);
      await expect(connect(plain.replace('rediss', 'redis'))).rejects.toThrow(/does it speak TLS alone/);
      await expect(connect(tls.url)).resolves.toBeDefined();
    } finally {
      redis?.disconnect();
      await tls.stop();
    }
    server = await RedisServer.start();
    await expect(connect(server.url.replace('redis', 'rediss'))).rejects.toThrow(/does it speak TLS there/);
  });

  it('does not wait for one that says nothing', async () => {
    server = await RedisServer.start();
    server.pause();
    await expect(connect(server.url)).rejects.toThrow(/cannot be reached/);
    server.proceed();
  });
});
