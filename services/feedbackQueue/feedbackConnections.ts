import { connectRedis, openRedis, type RedisAddress, type RedisConnection } from '../redis/index.js';

/** The connections of a feedback queue: two wait in Redis for what comes, and need their own. */
export class FeedbackConnections {
  private constructor(
    readonly commands: RedisConnection,
    readonly worker: RedisConnection,
    readonly mail: RedisConnection,
  ) {}

  /** @throws RedisError (as a rejection) when Redis cannot be reached or used */
  static async open(address: RedisAddress): Promise<FeedbackConnections> {
    // That Redis is away is said once, by whoever wanted something of it.
    const open = (name: string, kind: 'command' | 'blocking') =>
      openRedis(address, { name: `windjammer-${name}`, kind, onError: () => undefined });
    const connections = new FeedbackConnections(
      open('feedback', 'command'),
      open('feedback-worker', 'blocking'),
      open('feedback-mail', 'blocking'),
    );
    // Hundreds of jobs end with one write of their states: what is told of them then goes to Redis together.
    connections.worker.options.enableAutoPipelining = true;
    try {
      await Promise.all(connections.all().map((connection) => connectRedis(connection, address)));
      return connections;
    } catch (error) {
      connections.close();
      throw error;
    }
  }

  close(): void {
    for (const connection of this.all()) connection.disconnect();
  }

  private all(): readonly RedisConnection[] {
    return [this.commands, this.worker, this.mail];
  }
}
