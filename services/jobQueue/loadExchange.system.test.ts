import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { keyPrefix, openRedis, connectRedis, redisAddress, type RedisConnection } from '../redis/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { LoadExchange } from './index.js';

const SOON = { timeout: 20_000, interval: 20 };
const PREFIX = keyPrefix('windjammer');
const APP = new Set(['app']);

let redis: RedisServer;
let connection: RedisConnection;
const exchanges: LoadExchange[] = [];

beforeAll(async () => {
  redis = await RedisServer.start();
  const address = redisAddress(redis.url);
  connection = openRedis(address, { name: 'test', kind: 'command', onError: () => undefined });
  await connectRedis(connection, address);
});
// While jobs run, frontends tell each other often.
beforeEach(() => connection.sadd(`${PREFIX}:jobs:running`, 'job'));
afterEach(async () => {
  for (const exchange of exchanges.splice(0)) exchange.stop();
  await connection.flushall();
});
afterAll(async () => {
  connection.disconnect();
  await redis.stop();
});

function frontend(name: string) {
  const load = { inFlight: 0, taken: 0, asking: [] as string[] };
  const exchange = new LoadExchange(connection, PREFIX, name);
  exchanges.push(exchange);
  exchange.start({
    applications: () => ['app', 'other'],
    interactive: (application) => (application === 'app' ? load : { inFlight: 0, taken: 0 }),
    asking: () => load.asking,
  });
  return { exchange, load };
}

it('knows queries and jobs of other frontends, by their applications', async () => {
  const [a, b] = [frontend('a'), frontend('b')];
  await vi.waitFor(() => expect(a.exchange.busy(APP)).toBe(0), SOON);
  b.load.inFlight = 1;
  b.load.asking = ['app'];
  await vi.waitFor(() => expect([a.exchange.busy(APP), a.exchange.asking(APP)]).toEqual([1, 1]), SOON);
  expect(a.exchange.busy(new Set(['other']))).toBe(0);
  expect(b.exchange.busy(APP)).toBe(0);
  b.load.inFlight = 0;
  await vi.waitFor(() => expect(a.exchange.busy(APP)).toBe(0), SOON);
});

it('hears also of queries that were answered between two exchanges', async () => {
  const [a, b] = [frontend('a'), frontend('b')];
  await vi.waitFor(() => expect(a.exchange.busy(APP)).toBe(0), SOON);
  b.load.taken += 1;
  await vi.waitFor(() => expect(a.exchange.busy(APP)).toBe(1), { ...SOON, interval: 5 });
});

it('takes one that is not heard of for busy, until it counts as dead', async () => {
  const [a, b] = [frontend('a'), frontend('b')];
  await vi.waitFor(() => expect([a.exchange.busy(APP), b.exchange.busy(APP)]).toEqual([0, 0]), SOON);
  b.exchange.stop();
  await vi.waitFor(() => expect(a.exchange.busy(APP)).toBe(1), SOON);
  await vi.waitFor(() => expect(a.exchange.busy(APP)).toBe(0), SOON);
});

it('counts as busy what nobody knows while Redis is away', async () => {
  const { exchange } = frontend('a');
  await vi.waitFor(() => expect(exchange.busy(APP)).toBe(0), SOON);
  await redis.kill();
  await vi.waitFor(() => expect(exchange.busy(APP)).toBe(1), SOON);
  await redis.run();
  await vi.waitFor(() => expect(connection.status).toBe('ready'), SOON);
  await connection.sadd(`${PREFIX}:jobs:running`, 'job');
  await vi.waitFor(() => expect(exchange.busy(APP)).toBe(0), SOON);
});

it('is not led astray by words of others', async () => {
  await connection.hset(`${PREFIX}:jobs:loads`, { stranger: 'nonsense', other: `${Date.now()} {"busy":7}` });
  const { exchange } = frontend('a');
  await vi.waitFor(() => expect(exchange.busy(APP)).toBe(1), SOON);
  await vi.waitFor(() => expect(exchange.busy(APP)).toBe(0), SOON);
});
