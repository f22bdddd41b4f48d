import { isIP } from 'node:net';
import { addressText as nodeAddressText } from '../../containers/runtime/index.js';
import { Announcement } from '../cluster/index.js';
import type { Complaint } from '../errors/index.js';
import { connectRedis, keyPrefix, openRedis, redisAddress } from '../redis/index.js';
import { CommandError } from './commandError.js';
import type { NodeOptions } from './nodeCommand.js';

/** A node that servers of a cluster find. */
export interface Joined {
  /** Resolves once another process has this node's name. */
  readonly displaced: Promise<void>;
  leave(): Promise<void>;
}

/**
 * Says in the cluster's Redis that this node is there, and where; undefined: it joins none.
 * @param listening where it listens
 * @throws CommandError, RedisError, ClusterError (as rejections)
 */
export async function joinCluster(
  options: NodeOptions,
  listening: { readonly address: string; readonly port: number },
  isSecure: boolean,
  complain: Complaint,
): Promise<Joined | undefined> {
  const { join, name, gpus, advertise, redisPrefix } = options;
  if (join === undefined) {
    if (advertise !== undefined)
      throw new CommandError('--advertise is for --join: nobody is told without it');
    return undefined;
  }
  const place = advertise ?? { host: listening.address, port: listening.port };
  if (isAnyAddress(place.host)) {
    throw new CommandError(
      `--listen ${place.host} names no address that others can dial: say which with --advertise HOST:PORT`,
    );
  }
  const address = redisAddress(join, process.env['WINDJAMMER_REDIS_PASSWORD']);
  const prefix = keyPrefix(redisPrefix);
  let told = '';
  const redis = openRedis(address, {
    name: `windjammer node ${name}`,
    kind: 'command',
    onError: ({ message }) => {
      if (message !== told)
        complain('Redis is away; servers that know this node use it on', { reason: message });
      told = message;
    },
  });
  redis.on('ready', () => (told = ''));
  await connectRedis(redis, address);
  let onDisplaced: () => void = () => undefined;
  const displaced = new Promise<void>((resolve) => {
    onDisplaced = () => {
      complain('another node of this cluster has this one’s name, which was silent for too long: it stops', {
        name,
      });
      resolve();
    };
  });
  const record = { address: nodeAddressText({ ...place, isSecure }), gpus: [...gpus] };
  const announcement = new Announcement({ redis, prefix }, 'node', name, () => record, onDisplaced);
  try {
    await announcement.start();
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  return {
    displaced,
    leave: async () => {
      await announcement.stop();
      redis.disconnect();
    },
  };
}

function isAnyAddress(host: string): boolean {
  return isIP(host) !== 0 && /^[0:.]*$/.test(host);
}
