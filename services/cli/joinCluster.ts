import { isIP } from 'node:net';
import { addressText as nodeAddressText } from '../../containers/runtime/index.js';
import { openBundles, type BundleStore } from '../bundles/index.js';
import { Announcement } from '../cluster/index.js';
import type { Complaint } from '../errors/index.js';
import { keyPrefix, redisAddress, type RedisAddress } from '../redis/index.js';
import { openClusterRedis } from './clusterRedis.js';
import { CommandError } from './commandError.js';
import type { NodeOptions } from './nodeCommand.js';
import { redisPassword } from './redisPassword.js';

/** The cluster that a node is to join. */
export interface OpenCluster {
  readonly bundles: BundleStore;
  /**
   * Says that the node is there.
   * @param listening where it listens
   * @returns `displaced` resolves once another process has this node's name
   * @throws CommandError, ClusterError (as rejections)
   */
  announce(listening: ListeningAt): Promise<{ readonly displaced: Promise<void> }>;
  /** Says that the node is about to stop: replicas are placed elsewhere from then on. */
  empty(): void;
  leave(): Promise<void>;
}

export interface ListeningAt {
  readonly address: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/** The Redis that a node is to join; undefined: none. @throws CommandError, RedisError */
export function checkedJoin({
  join,
  redisPasswordFile,
  redisPrefix,
  advertise,
  bundleDir,
}: NodeOptions): { readonly address: RedisAddress; readonly prefix: string } | undefined {
  if (join !== undefined) {
    return {
      address: redisAddress(join, redisPassword(redisPasswordFile, process.env)),
      prefix: keyPrefix(redisPrefix),
    };
  }
  for (const [option, value] of [
    ['--advertise', advertise],
    ['--bundle-dir', bundleDir],
    ['--redis-password-file', redisPasswordFile],
  ] as const) {
    if (value !== undefined) throw new CommandError(`${option} is for --join: nobody is told without it`);
  }
  return undefined;
}

/**
 * Connects to the cluster's Redis; undefined: the node joins none.
 * @throws CommandError, RedisError, BundleError (as rejections)
 */
export async function openCluster(
  options: NodeOptions,
  complain: Complaint,
): Promise<OpenCluster | undefined> {
  const joined = checkedJoin(options);
  if (joined === undefined) return undefined;
  const { address, prefix } = joined;
  const { name, gpus, bundleDir } = options;
  const whenAway = 'Redis is away; servers that know this node use it on';
  const redis = await openClusterRedis(address, `windjammer-node-${name}`, whenAway, complain);
  let announcement: Announcement | undefined;
  let isLeaving = false;
  return {
    bundles: await openBundles(redis, prefix, bundleDir),
    announce: async (listening) => {
      const address = placeOf(options, listening);
      const record = () => ({ address, gpus: [...gpus], ...(isLeaving ? { leaving: true } : {}) });
      let onDisplaced: () => void = () => undefined;
      const displaced = new Promise<void>((resolve) => {
        onDisplaced = () => {
          complain(
            'another node of this cluster has this one’s name, which was silent for too long: it stops',
            {
              name,
            },
          );
          resolve();
        };
      });
      announcement = new Announcement({ redis, prefix }, 'node', name, record, onDisplaced);
      await announcement.start();
      return { displaced };
    },
    empty: () => {
      isLeaving = true;
    },
    leave: async () => {
      await announcement?.stop();
      redis.disconnect();
    },
  };
}

/** Where servers dial it. @throws CommandError */
function placeOf({ advertise }: NodeOptions, { address, port, isSecure }: ListeningAt): string {
  const place = advertise ?? { host: address, port };
  if (!isAnyAddress(place.host)) return nodeAddressText({ ...place, isSecure });
  throw new CommandError(
    `--listen ${place.host} names no address that others can dial: say which with --advertise HOST:PORT`,
  );
}

function isAnyAddress(host: string): boolean {
  return isIP(host) !== 0 && /^[0:.]*$/.test(host);
}
