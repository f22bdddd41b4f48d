import type { RedisAddress, RedisConnection } from '../../redis/index.js';

/** What a store in Redis needs. */
export interface StoreConnections {
  readonly address: RedisAddress;
  /** As of `keyPrefix`. */
  readonly prefix: string;
  /** Answers in time, or fails. */
  readonly commands: RedisConnection;
  /** For reads that wait. */
  readonly follower: RedisConnection;
}
