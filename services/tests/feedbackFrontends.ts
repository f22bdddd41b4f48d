import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { packageRoot } from '../../simulator/files/index.js';
import { WindjammerClient } from '../client/index.js';

/** Compiled, also where this is not. */
const PROGRAM = join(packageRoot(), 'dist/services/tests/redisFrontend.js');

/** A frontend in a process of its own, on one Redis with others: it may be killed at any moment and started again. */
export class FeedbackFrontend {
  private constructor(
    private readonly child: ChildProcess,
    readonly client: WindjammerClient,
  ) {}

  /** @param dataDirectory for its spool */
  static async start(redisUrl: string, dataDirectory?: string): Promise<FeedbackFrontend> {
    const words = [PROGRAM, redisUrl, ...(dataDirectory === undefined ? [] : [dataDirectory])];
    const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    const ports = await Promise.race([
      once(createInterface({ input: child.stdout }), 'line').then(
        ([line]) => JSON.parse(String(line)) as Ports,
      ),
      once(child, 'exit').then(([code]) => {
        throw new Error(`a frontend ended with ${String(code)} before it served`);
      }),
    ]);
    const client = new WindjammerClient({
      queryUrl: `http://127.0.0.1:${ports.query}`,
      managementUrl: `http://127.0.0.1:${ports.management}`,
      timeoutMs: 8000,
    });
    return new FeedbackFrontend(child, client);
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  async kill(): Promise<void> {
    if (!this.isAlive) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}

interface Ports {
  readonly query: number;
  readonly management: number;
}
