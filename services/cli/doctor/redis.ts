import { randomBytes } from 'node:crypto';
import { reasonOf } from '../../../simulator/text/index.js';
import {
  addressText,
  connectRedis,
  isAnswer,
  keyPrefix,
  openRedis,
  RedisError,
  type RedisAddress,
  type RedisConnection,
} from '../../redis/index.js';
import { fail, ok, warn, type Finding } from './finding.js';

const LARGEST_SKEW_MS = 1000;
const OLDEST = [6, 2] as const;

/** The Redis that servers share. @param prefix of its keys, without braces */
export async function sharedRedis(address: RedisAddress, prefix: string): Promise<Finding[]> {
  const redis = openRedis(address, { name: 'windjammer-doctor', kind: 'command', onError: () => undefined });
  try {
    await connectRedis(redis, address);
    const info = await redis.info();
    return [
      ...instance(addressText(address), info),
      await clock(redis),
      await rights(redis, keyPrefix(prefix)),
    ];
  } catch (error) {
    const fix = 'see docs/guides/shared-store.md';
    return [
      fail(
        'redis',
        error instanceof RedisError ? error.message : `${addressText(address)}: ${reasonOf(error)}`,
        fix,
      ),
    ];
  } finally {
    redis.disconnect();
  }
}

function instance(where: string, info: string): Finding[] {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];
  const version = field('redis_version') ?? '?';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  const policy = field('maxmemory_policy') ?? 'noeviction';
  const hasLimit = field('maxmemory') !== '0';
  return [
    isNew
      ? ok('redis', `${where} is Redis ${version}`)
      : fail(
          'redis',
          `${where} is Redis ${version}`,
          `Windjammer needs ${OLDEST.join('.')} or later, or Valkey`,
        ),
    ...(field('role') === 'slave'
      ? [
          fail(
            'redis',
            `${where} is a replica, which takes no writes`,
            'name the primary, or redis+sentinel://',
          ),
        ]
      : []),
    field('aof_enabled') === '1'
      ? ok('redis persistence', 'it has an append-only file')
      : warn(
          'redis persistence',
          'what it has acknowledged is gone when it ends',
          'start it with appendonly yes and appendfsync always',
        ),
    !hasLimit || policy === 'noeviction'
      ? ok('redis memory', hasLimit ? `it keeps all keys (${policy})` : 'it has no limit (maxmemory 0)')
      : warn(
          'redis memory',
          `it throws keys away when its memory is full (${policy})`,
          'set maxmemory-policy noeviction',
        ),
  ];
}

/** By half of the time that its answer took, the clocks may differ unseen. */
async function clock(redis: RedisConnection): Promise<Finding> {
  const sentMs = Date.now();
  const [seconds, micros] = await redis.time();
  const middleMs = (sentMs + Date.now()) / 2;
  const skewMs = Math.round(middleMs - (Number(seconds) * 1000 + Number(micros) / 1000));
  const text = `this clock is ${Math.abs(skewMs)} ms ${skewMs < 0 ? 'behind' : 'ahead of'} that of Redis`;
  if (Math.abs(skewMs) <= LARGEST_SKEW_MS) return ok('clock', text);
  return warn(
    'clock',
    text,
    'run an NTP client (chrony, systemd-timesyncd) on both: keys expire and events are dated by it',
  );
}

/** Everything that the store, queues and the cluster do, on a key that goes at once. */
async function rights(redis: RedisConnection, prefix: string): Promise<Finding> {
  const key = `${prefix}:doctor:${randomBytes(6).toString('hex')}`;
  const trials: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['set, pexpire, exists', () => redis.set(key, '1', 'PX', 10_000).then(() => redis.exists(key))],
    ['del', () => redis.del(key)],
    ['hset, hgetall, hscan', () => redis.hset(key, 'a', '1').then(() => redis.hscan(key, '0'))],
    ['unlink', () => redis.unlink(key)],
    [
      'xadd, xrange, xread',
      () => redis.xadd(key, '*', 'a', '1').then(() => redis.xread('STREAMS', key, '0')),
    ],
    ['eval', () => redis.eval("return redis.call('DEL', KEYS[1])", 1, key)],
    ['zadd', () => redis.zadd(key, 1, 'a').then(() => redis.unlink(key))],
  ];
  for (const [what, attempt] of trials) {
    try {
      await attempt();
    } catch (error) {
      if (!isAnswer(error)) throw error;
      await redis.unlink(key).catch(() => undefined);
      const fix = `give the user ~${prefix}:* and what docs/guides/shared-store.md lists`;
      return fail('redis rights', `${what}: ${reasonOf(error)}`, fix);
    }
  }
  return ok('redis rights', `the user may do what is needed on ${prefix}:*`);
}
