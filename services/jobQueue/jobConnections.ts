import { openConnections, type RedisAddress, type RedisConnection } from '../redis/index.js';

/** The connections of jobs: a worker waits in Redis for what comes, and needs its own. */
export class JobConnections {
  private constructor(
    readonly commands: RedisConnection,
    readonly worker: RedisConnection,
  ) {}

  /** @throws RedisError (as a rejection) when Redis cannot be reached or used */
  static async open(address: RedisAddress): Promise<JobConnections> {
    const { commands, worker } = await openConnections(address, {
      commands: { name: 'windjammer-jobs', kind: 'command' },
      worker: { name: 'windjammer-jobs-worker', kind: 'blocking' },
    });
    return new JobConnections(commands, worker);
  }

  close(): void {
    this.commands.disconnect();
    this.worker.disconnect();
  }
}
