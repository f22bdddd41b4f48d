import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectRedis, keyPrefix, openRedis, redisAddress, type RedisConnection } from '../redis/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { Announcement, Lease, RosterWatch, type Roster } from './index.js';

const prefix = keyPrefix('test');
let server: RedisServer;
let opened: RedisConnection[] = [];

async function connection(): Promise<RedisConnection> {
  const address = redisAddress(server.url);
  const redis = openRedis(address, { name: 'test', kind: 'command', onError: () => undefined });
  opened.push(redis);
  await connectRedis(redis, address);
  return redis;
}

/** What was told, and whoever waits for it. */
class Told<T> {
  readonly values: T[] = [];
  private wake: () => void = () => undefined;
  readonly add = (value: T): void => {
    this.values.push(value);
    this.wake();
  };
  async until(holds: (values: readonly T[]) => boolean): Promise<void> {
    while (!holds(this.values)) await new Promise<void>((resolve) => (this.wake = resolve));
  }
}

beforeEach(async () => {
  server = await RedisServer.start();
});
afterEach(async () => {
  for (const redis of opened) redis.disconnect();
  opened = [];
  await server.stop();
});

async function leaseOf(holder: string, ttlMs = 900) {
  const told = new Told<number | undefined>();
  const redis = await connection();
  const lease = new Lease({ redis, prefix, name: 'placement', holder, ttlMs, onChange: told.add });
  return { lease, told, redis };
}

describe('a lease', () => {
  it('is one holder’s at a time, is given up at once, and its tokens grow', async () => {
    const [one, two] = [await leaseOf('one'), await leaseOf('two')];
    one.lease.start();
    await one.told.until((values) => values.length > 0);
    two.lease.start();
    await one.lease.stop();
    await two.told.until((values) => values.length > 0);
    expect(one.told.values.at(-1)).toBeUndefined();
    expect(two.lease.token).toBeGreaterThan(one.told.values[0] ?? Infinity);
    await two.lease.stop();
  });

  it('goes to another once its holder has been silent, and is over for the holder before that', async () => {
    const [one, two] = [await leaseOf('one'), await leaseOf('two')];
    one.lease.start();
    await one.told.until((values) => values.length > 0);
    one.redis.disconnect();
    two.lease.start();
    await two.told.until((values) => values.length > 0);
    expect(one.lease.token).toBeUndefined();
    await two.lease.stop();
  });

  it('stays with nobody while Redis is away, and its tokens grow also where Redis lost all', async () => {
    const { lease, told } = await leaseOf('one');
    lease.start();
    await told.until((values) => values.length > 0);
    server.pause();
    await told.until((values) => values.at(-1) === undefined);
    expect(lease.token).toBeUndefined();
    server.proceed();
    await told.until((values) => values.length > 2);
    await (await connection()).flushall();
    // Nobody else had it meanwhile: the token may be the former one. What Redis forgot is given out anew.
    await told.until((values) => (values.at(-1) ?? 0) > (values[0] ?? Infinity));
    const tokens = told.values.filter((value) => value !== undefined);
    expect(tokens).toEqual([...tokens].sort((a, b) => a - b));
    await lease.stop();
  });
});

describe('membership', () => {
  const names = ({ alive }: Roster) => alive.map(({ name }) => name).sort();

  it('lists who is alive with what it says, and drops who is silent', async () => {
    const told = new Told<Roster>();
    const silent = await connection();
    const member = (redis: RedisConnection, name: string) =>
      new Announcement(
        { redis, prefix },
        'node',
        name,
        () => ({ at: name }),
        () => undefined,
      );
    const [n1, n2] = [member(silent, 'n1'), member(await connection(), 'n2')];
    const watch = new RosterWatch({ redis: await connection(), prefix }, 'node', told.add);
    await watch.start();
    await n1.start();
    await n2.start();
    await told.until((rosters) => names(rosters.at(-1) ?? watch.roster).length === 2);
    expect(watch.roster.alive.map(({ record }) => record)).toContainEqual({ at: 'n1' });
    silent.disconnect();
    await told.until((rosters) => names(rosters[rosters.length - 1]).join() === 'n2');
    expect(watch.roster.dead.map(({ name }) => name)).toEqual(['n1']);
    await n2.stop();
    await told.until((rosters) => rosters[rosters.length - 1].alive.length === 0);
    expect(watch.roster.dead).toHaveLength(1);
    watch.stop();
    await n1.stop();
  });

  it('refuses a name that somebody alive has, and tells whoever was displaced', async () => {
    const displaced = new Told<string>();
    const redis = await connection();
    const first = new Announcement(
      { redis, prefix },
      'node',
      'n1',
      () => null,
      () => displaced.add('first'),
    );
    await first.start();
    const second = new Announcement(
      { redis: await connection(), prefix },
      'node',
      'n1',
      () => null,
      () => undefined,
    );
    await expect(second.start()).rejects.toThrow(/there is a node 'n1' in this cluster, and it is alive/);
    await redis.zadd(`${prefix}:node:alive`, 0, 'n1');
    await second.start();
    await displaced.until((values) => values.length > 0);
    await first.stop();
    await second.stop();
  });

  it('begins to announce also where Redis has gone just now: it is said once that is back', async () => {
    const redis = await connection();
    const member = new Announcement(
      { redis, prefix },
      'frontend',
      'f1',
      () => null,
      () => undefined,
    );
    const told = new Told<Roster>();
    const watch = new RosterWatch({ redis: await connection(), prefix }, 'frontend', told.add);
    await server.kill();
    await member.start();
    await expect(watch.start()).rejects.toThrow();
    await server.run();
    await told.until((rosters) => rosters.length > 0 && names(rosters[rosters.length - 1]).length === 1);
    watch.stop();
    await member.stop();
  });

  it('takes nobody for dead because Redis was away', async () => {
    const told = new Told<Roster>();
    const member = new Announcement(
      { redis: await connection(), prefix },
      'node',
      'n1',
      () => null,
      () => undefined,
    );
    await member.start();
    const redis = await connection();
    const watch = new RosterWatch({ redis, prefix }, 'node', told.add);
    await watch.start();
    await server.kill();
    await new Promise((resolve) => setTimeout(resolve, 2500));
    const ready = new Promise((resolve) => redis.once('ready', resolve));
    await server.run();
    await ready;
    const second = new Announcement(
      { redis, prefix },
      'node',
      'n2',
      () => null,
      () => undefined,
    );
    await second.start();
    await told.until((rosters) => names(rosters[rosters.length - 1]).length === 2);
    expect(told.values.map(names)).not.toContainEqual([]);
    watch.stop();
    await member.stop();
    await second.stop();
  });
});
