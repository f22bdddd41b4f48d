import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../simulator/files/index.js';
import type { RedisConnection } from './openRedis.js';

/**
 * A Lua file, which Redis runs as one step. A file's head says what its keys and arguments are, and what it answers. Redis
 * keeps scripts by their hash, and forgets them when it starts again: the text is sent when it is asked for.
 */
export class RedisScript {
  private readonly text: string;
  private readonly hash: string;

  /** @param path of the file, in this package */
  constructor(path: string) {
    this.text = readFileSync(join(packageRoot(), path), 'utf8');
    this.hash = createHash('sha1').update(this.text).digest('hex');
  }

  /** @param keys all in one slot, with what `keyPrefix` gives */
  async run(
    redis: RedisConnection,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    try {
      return await this.runLoaded(redis, keys, args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return this.load(redis, keys, args);
    }
  }

  /** Runs it by its text, by which Redis knows it from then on. */
  load(
    redis: RedisConnection,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    return redis.eval(this.text, keys.length, ...keys, ...args);
  }

  /** Sends nothing a second time, so that calls keep their order; fails with NOSCRIPT where Redis does not know it. */
  runLoaded(
    redis: RedisConnection,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    return redis.evalsha(this.hash, keys.length, ...keys, ...args);
  }
}
