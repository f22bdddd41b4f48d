import { connectRedis, openRedis, type RedisConnection, type RedisUse } from './openRedis.js';
import type { RedisAddress } from './redisAddress.js';

/**
 * Several connections, by what they are for. That Redis is away is said once, by whoever wants something of it, and not by each.
 * @throws RedisError (as a rejection) when Redis cannot be reached or used; none of them is left connected then
 */
export async function openConnections<Names extends string>(
  address: RedisAddress,
  uses: Readonly<Record<Names, Pick<RedisUse, 'name' | 'kind'>>>,
): Promise<Readonly<Record<Names, RedisConnection>>> {
  const connections = Object.fromEntries(
    Object.entries<Pick<RedisUse, 'name' | 'kind'>>(uses).map(([name, use]) => [
      name,
      openRedis(address, { ...use, onError: () => undefined }),
    ]),
  ) as Record<Names, RedisConnection>;
  const all = Object.values<RedisConnection>(connections);
  try {
    await Promise.all(all.map((connection) => connectRedis(connection, address)));
    return connections;
  } catch (error) {
    for (const connection of all) connection.disconnect();
    throw error;
  }
}
