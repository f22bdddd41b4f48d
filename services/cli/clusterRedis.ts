import type { Complaint } from '../errors/index.js';
import type { RedisAddress, RedisConnection } from '../redis/index.js';

/**
 * A connection to the Redis of a cluster. That it is away is said once, until it is there again or the reason is another one.
 * @param name shown by `CLIENT LIST`
 * @param whenAway what is said then
 * @throws RedisError (as a rejection)
 */
export async function openClusterRedis(
  address: RedisAddress,
  name: string,
  whenAway: string,
  complain: Complaint,
): Promise<RedisConnection> {
  const { connectRedis, openRedis } = await import('../redis/index.js');
  let told = '';
  const onError = ({ message }: Error): void => {
    if (message !== told) complain(whenAway, { reason: message });
    told = message;
  };
  const redis = openRedis(address, { name, kind: 'command', onError });
  redis.on('ready', () => (told = ''));
  await connectRedis(redis, address);
  return redis;
}
