import { connectRedis, openRedis, type RedisAddress, type RedisConnection } from '../redis/index.js';

/** The connections of jobs: a worker waits in Redis for what comes, and needs its own. */
export class JobConnections {
  private constructor(
    readonly commands: RedisConnection,
    readonly worker: RedisConnection,
  ) {}

  /** @throws RedisError (as a rejection) when Redis cannot be reached or used */
  static async open(address: RedisAddress): Promise<JobConnections> {
    // That Redis is away is said once, by whoever wanted something of it.
    const open = (name: string, kind: 'command' | 'blocking') =>
      openRedis(address, { name: `windjammer-${name}`, kind, onError: () => undefined });
    const connections = new JobConnections(open('jobs', 'command'), open('jobs-worker', 'blocking'));
    try {
      await Promise.all(
        [connections.commands, connections.worker].map((connection) => connectRedis(connection, address)),
      );
      return connections;
    } catch (error) {
      connections.close();
      throw error;
    }
  }

  close(): void {
    this.commands.disconnect();
    this.worker.disconnect();
  }
}
