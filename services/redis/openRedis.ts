import { Cluster, Redis, type CommonRedisOptions } from 'ioredis';
import { reasonOf } from '../../simulator/text/index.js';
import { addressText, type RedisAddress } from './redisAddress.js';
import { RedisError } from './redisError.js';
import { SilentError, withinTime } from './withinTime.js';

/** A connection to a Redis, however it is set up. */
export type RedisConnection = Redis | Cluster;

export interface RedisUse {
  /** Shown by `CLIENT LIST`. */
  readonly name: string;
  /**
   * `command`: a command fails at once while the connection is away, and after `COMMAND_TIMEOUT_MS` without an answer.
   * `waiting`: the same, for commands that may wait for as long as they like, as readers of streams do.
   * `blocking`: commands wait for the connection, and are sent again after it was lost, as BullMQ's workers want it.
   */
  readonly kind: 'command' | 'waiting' | 'blocking';
  /** Told of each failure of the connection, which is made again by itself. */
  readonly onError: (error: Error) => void;
}

/** A Redis that says nothing for so long is taken to be away. */
export const COMMAND_TIMEOUT_MS = 5000;
const CONNECT_TIMEOUT_MS = 5000;
/** How long after a lost connection the next one is tried, or a Redis that loads is asked again, at most. */
const MOST_RETRY_MS = 1000;

/** A connection that is made again whenever it is lost, for ever. It is not connected yet when this returns. */
export function openRedis(address: RedisAddress, use: RedisUse): RedisConnection {
  const redis = unconnected(address, use);
  redis.on('error', use.onError);
  return redis;
}

function unconnected(address: RedisAddress, { name, kind }: RedisUse): RedisConnection {
  const common: Omit<CommonRedisOptions, 'replyMapping'> = {
    connectionName: name,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // Whether a lost command may be repeated is its caller's to know. Where commands wait for the connection, it would
    // never be answered otherwise.
    autoResendUnfulfilledCommands: kind === 'blocking',
    maxRetriesPerRequest: kind === 'blocking' ? null : 0,
    enableOfflineQueue: kind === 'blocking',
    retryStrategy,
    maxLoadingRetryTime: MOST_RETRY_MS,
    ...(kind === 'command' ? { commandTimeout: COMMAND_TIMEOUT_MS } : {}),
    ...(address.username === undefined ? {} : { username: address.username }),
    ...(address.password === undefined ? {} : { password: address.password }),
  };
  const tls = address.tls === undefined ? {} : { tls: address.tls };
  switch (address.kind) {
    case 'single':
      return new Redis({ ...common, ...tls, ...address.host, db: address.db, lazyConnect: true });
    case 'sentinel':
      return new Redis({
        ...common,
        ...tls,
        sentinels: [...address.hosts],
        name: address.master,
        db: address.db,
        lazyConnect: true,
        ...(address.tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: address.tls }),
      });
    case 'cluster':
      return new Cluster([...address.hosts], {
        lazyConnect: true,
        enableOfflineQueue: kind === 'blocking',
        clusterRetryStrategy: retryStrategy,
        redisOptions: { ...common, ...tls },
        // A certificate names hosts, and a Cluster tells addresses.
        ...(address.tls === undefined ? {} : { dnsLookup: (host, done) => done(null, host) }),
      });
  }
}

/**
 * Connects, and finds out whether it is a Redis that answers us; one that reads its data from disk is waited for. One that does
 * not answer is left disconnected.
 * @throws RedisError `unreachable` or `refused` (as a rejection), naming the address and the fix
 */
export async function connectRedis(redis: RedisConnection, address: RedisAddress): Promise<void> {
  let onError: (error: unknown) => void = () => undefined;
  // ioredis tries for ever; its first failure decides whether that makes sense.
  const failed = new Promise<never>((_resolve, reject) => {
    onError = (error) => reject(error instanceof Error ? error : new Error(reasonOf(error)));
    redis.on('error', onError);
  });
  const answered = Promise.race([redis.connect().then(() => redis.ping()), failed]);
  try {
    while (!(await isHeard(answered, redis)));
  } catch (error) {
    redis.disconnect();
    throw redisRefusal(error, address);
  } finally {
    redis.off('error', onError);
  }
}

/**
 * @returns whether it has answered: not yet where it reads its data from disk, however long that takes. @throws what it answers, or
 * SilentError (as a rejection)
 */
async function isHeard(answered: Promise<unknown>, redis: RedisConnection): Promise<boolean> {
  try {
    await withinTime(CONNECT_TIMEOUT_MS, answered);
    return true;
  } catch (error) {
    // Connected, and not ready: it loads. ioredis asks on until it has loaded, which may just have been.
    if (!(error instanceof SilentError) || redis.status !== 'connect') throw error;
    const info = await withinTime(CONNECT_TIMEOUT_MS, redis.info('persistence')).catch(() => '');
    if (!info.includes('loading:')) throw error;
    return false;
  }
}

/** What ioredis calls a connection that was lost under a command; others are defects, or typed already. */
const LOSSES: readonly string[] = ['Error', 'MaxRetriesPerRequestError', 'ClusterAllFailedError'];

/** Whether a command failed since its connection was lost. */
export function isLoss(error: unknown): boolean {
  return error instanceof Error && LOSSES.includes(error.name);
}

/** What a failure of a connection means for whoever set it up. */
export function redisRefusal(error: unknown, address: RedisAddress): RedisError {
  const where = addressText(address);
  const reason = reasonOf(error);
  if (/WRONGPASS|NOAUTH|invalid username-password|without any password configured/.test(reason)) {
    return new RedisError(
      'refused',
      `${where} refuses the user or the password (${reason}): give them as redis://USER:PASSWORD@HOST, or the password as WINDJAMMER_REDIS_PASSWORD`,
      { cause: error },
    );
  }
  if (/NOPERM/.test(reason)) {
    return new RedisError('refused', `${where}: the user may not do what is needed: ${reason}`, {
      cause: error,
    });
  }
  return new RedisError('unreachable', `${where} cannot be reached: ${reason}${hintOf(error, address)}`, {
    cause: error,
  });
}

/** Codes of a certificate that nobody we trust has signed. */
const UNTRUSTED = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

function hintOf(error: unknown, { tls }: RedisAddress): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (UNTRUSTED.has(code)) return '; name the authority that has signed its certificate: rediss://…?ca=FILE';
  // Whichever of ioredis' clock and ours is first.
  const isSilent = error instanceof SilentError || code === 'ETIMEDOUT';
  if (isSilent || code === 'ERR_SSL_WRONG_VERSION_NUMBER') {
    return tls === undefined ? '' : '; does it speak TLS there? redis://… without';
  }
  // Who is refused after its handshake hears that, or an end of the connection only.
  if (!/CERTIFICATE_REQUIRED|ECONNRESET|EPIPE/.test(code)) return '';
  if (tls === undefined) return '; does it speak TLS alone? rediss://…';
  return tls.cert === undefined ? '; does it ask for a certificate? rediss://…?cert=FILE&key=FILE' : '';
}

function retryStrategy(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 10), MOST_RETRY_MS);
}
