import { openConnections, type RedisAddress, type RedisConnection } from '../redis/index.js';

/** The connections of a feedback queue: two wait in Redis for what comes, and need their own. */
export class FeedbackConnections {
  private constructor(
    readonly commands: RedisConnection,
    readonly worker: RedisConnection,
    readonly mail: RedisConnection,
  ) {
    // Hundreds of jobs end with one write of their states: what is told of them then goes to Redis together.
    worker.options.enableAutoPipelining = true;
  }

  /** @throws RedisError (as a rejection) when Redis cannot be reached or used */
  static async open(address: RedisAddress): Promise<FeedbackConnections> {
    const { commands, worker, mail } = await openConnections(address, {
      commands: { name: 'windjammer-feedback', kind: 'command' },
      worker: { name: 'windjammer-feedback-worker', kind: 'blocking' },
      mail: { name: 'windjammer-feedback-mail', kind: 'blocking' },
    });
    return new FeedbackConnections(commands, worker, mail);
  }

  close(): void {
    for (const connection of [this.commands, this.worker, this.mail]) connection.disconnect();
  }
}
