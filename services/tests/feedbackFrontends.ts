import type { WindjammerClient } from '../client/index.js';
import { ServedProcess } from './servedProcess.js';

/** Of each call. */
const TIMEOUT_MS = 8000;

/** A frontend on one Redis with others: it may be killed at any moment and started again. */
export class FeedbackFrontend {
  readonly client: WindjammerClient;

  private constructor(private readonly served: ServedProcess) {
    this.client = served.client(TIMEOUT_MS);
  }

  /** @param dataDirectory for its spool */
  static async start(redisUrl: string, dataDirectory: string): Promise<FeedbackFrontend> {
    return new FeedbackFrontend(
      await ServedProcess.start(['--store', redisUrl, '--no-defaults', '--data-dir', dataDirectory]),
    );
  }

  get isAlive(): boolean {
    return !this.served.hasExited;
  }

  async kill(): Promise<void> {
    await this.served.end('SIGKILL');
  }
}
