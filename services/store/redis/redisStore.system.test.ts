import { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';
import { redisAddress } from '../../redis/index.js';
import { RedisServer } from '../../redis/tests/redisServer.js';
import { storeConformance } from '../tests/conformance.js';
import { openRedisStore } from './index.js';

let server: RedisServer;
let admin: Redis;
beforeAll(async () => {
  server = await RedisServer.start();
  admin = new Redis(server.port, '127.0.0.1');
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

let prefix = 0;
const open = () =>
  openRedisStore({
    address: redisAddress(server.url),
    prefix: `test-${prefix}`,
    complain: () => undefined,
  });

storeConformance('RedisStore', {
  open: () => {
    prefix += 1;
    return open();
  },
  reopen: open,
  breakStore: async () => void (await admin.config('SET', 'maxmemory', '1')),
  mendStore: async () => void (await admin.config('SET', 'maxmemory', '0')),
});
