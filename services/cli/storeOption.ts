import type { EmbeddedOptions } from '../main.js';
import type { Complaint } from '../errors/index.js';
import type { RedisAddress } from '../redis/index.js';
import { openClusterRedis } from './clusterRedis.js';
import { CommandError } from './commandError.js';
import { redisPassword } from './redisPassword.js';
import type { ServeOptions } from './serveCommand.js';

const MIB = 1024 * 1024;

export interface SharedStoreOption {
  readonly open: NonNullable<EmbeddedOptions['openSharedStore']>;
  readonly openFeedbackQueue: NonNullable<EmbeddedOptions['openFeedbackQueue']>;
  readonly openJobQueue: NonNullable<EmbeddedOptions['openJobQueue']>;
  /** Of servers that run models themselves. */
  readonly openSharedBundles: NonNullable<EmbeddedOptions['openSharedBundles']>;
  /** For people: its address, without the password. */
  readonly where: string;
  readonly address: RedisAddress;
  /** Of all keys, without braces. */
  readonly prefix: string;
}

/** Where state is kept that several servers share; undefined: nowhere. @throws CommandError, RedisError */
export async function sharedStore(
  { store, redisPasswordFile, redisPrefix, feedbackSpoolMib, ephemeral }: ServeOptions,
  env: NodeJS.ProcessEnv,
  complain: Complaint,
): Promise<SharedStoreOption | undefined> {
  if (store === undefined) {
    if (feedbackSpoolMib !== undefined) {
      throw new CommandError(
        '--feedback-spool-mib is for feedback while Redis is away: give --store redis://HOST, too',
      );
    }
    if (redisPasswordFile !== undefined) {
      throw new CommandError('--redis-password-file is for a Redis: give --store redis://HOST, too');
    }
    if (redisPrefix === undefined) return undefined;
    throw new CommandError('--redis-prefix is for keys in a Redis: give --store redis://HOST, too');
  }
  if (ephemeral === true) {
    throw new CommandError('--ephemeral keeps nothing, and --store keeps it in Redis: give one of them');
  }
  const [
    { addressText, DEFAULT_PREFIX, keyPrefix, redisAddress },
    { openRedisStore },
    { openFeedbackQueue },
    { openJobQueue },
  ] = await Promise.all([
    import('../redis/index.js'),
    import('../store/index.js'),
    import('../feedbackQueue/index.js'),
    import('../jobQueue/index.js'),
  ]);
  const address = redisAddress(store, redisPassword(redisPasswordFile, env));
  const prefix = redisPrefix ?? DEFAULT_PREFIX;
  const keys = keyPrefix(prefix);
  const spoolBytes = feedbackSpoolMib === undefined ? undefined : feedbackSpoolMib * MIB;
  return {
    open: () => openRedisStore({ address, prefix, complain }),
    openFeedbackQueue: () => openFeedbackQueue({ address, prefix, spoolBytes }),
    openJobQueue: () => openJobQueue({ address, prefix }),
    openSharedBundles: async () => {
      const { openBundles } = await import('../bundles/index.js');
      const whenAway = 'Redis is away; no files of models are taken or fetched';
      const redis = await openClusterRedis(address, 'windjammer-bundles', whenAway, complain);
      return { bundles: await openBundles(redis, keys, undefined), close: () => redis.disconnect() };
    },
    where: addressText(address),
    address,
    prefix,
  };
}
