import { keyPrefix, type RedisAddress } from '../redis/index.js';
import { FeedbackConnections } from './feedbackConnections.js';
import { FeedbackQueue, type FeedbackQueueOptions } from './feedbackQueue.js';

export interface FeedbackQueueSettings {
  readonly address: RedisAddress;
  /** Of all keys, without braces. */
  readonly prefix: string;
  /** Of feedback that is kept in the data directory while Redis is away. */
  readonly spoolBytes?: number | undefined;
}

/** Connections for feedback, and what is made of them once there is an engine. */
export interface FeedbackQueueMaker {
  make(options: Omit<FeedbackQueueOptions, 'connections' | 'prefix' | 'spoolBytes'>): FeedbackQueue;
  /** Where nothing was made of them. */
  close(): void;
}

/** @throws RedisError (as a rejection) when Redis cannot be named, reached or used */
export async function openFeedbackQueue({
  address,
  prefix,
  spoolBytes,
}: FeedbackQueueSettings): Promise<FeedbackQueueMaker> {
  const braced = keyPrefix(prefix);
  const connections = await FeedbackConnections.open(address);
  return {
    make: (options) => new FeedbackQueue({ ...options, connections, prefix: braced, spoolBytes }),
    close: () => connections.close(),
  };
}
