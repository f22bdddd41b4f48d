import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { redisAddress } from '../redis/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { openRedisStore, type SharedStore } from '../store/index.js';
import { AccessKeys } from './index.js';

const ROUNDS = 20;

let redis: RedisServer;
const stores: SharedStore[] = [];
beforeAll(async () => {
  redis = await RedisServer.start();
  for (let frontend = 0; frontend < 3; frontend++) {
    const complain = () => undefined;
    stores.push(await openRedisStore({ address: redisAddress(redis.url), prefix: 'keys', complain }));
  }
});
afterAll(async () => {
  for (const store of stores) await new Promise<void>((resolve) => store.close(resolve));
  await redis.stop();
});

it('frontends that remove each other’s last key that may administer at once leave one', async () => {
  const frontends = stores.map((store) => new AccessKeys(store));
  for (let round = 0; round < ROUNDS; round++) {
    const made: string[] = [];
    for (const keys of frontends) made.push((await keys.add({ name: 'admin', scopes: ['admin'] })).record.id);
    const seen = (keys: AccessKeys) => keys.list().map(({ id }) => id);
    for (const keys of frontends) {
      await vi.waitFor(() => expect(seen(keys).sort()).toEqual([...made].sort()), { timeout: 10_000 });
    }
    const outcomes = await Promise.allSettled(frontends.map((keys, at) => keys.remove(made[at])));
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject([{ reason: { code: 'last_admin_key' } }]);
    const left = made.filter((_, at) => outcomes[at].status === 'rejected');
    for (const keys of frontends) {
      await vi.waitFor(() => expect(seen(keys)).toEqual(left), { timeout: 10_000 });
      expect(keys.canAdminister()).toBe(true);
    }
    await frontends[0].remove(left[0], true);
    for (const keys of frontends) {
      await vi.waitFor(() => expect(seen(keys)).toEqual([]), { timeout: 10_000 });
    }
  }
  for (const keys of frontends) keys.close();
});
