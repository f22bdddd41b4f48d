import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { WindjammerClient } from '../../services/client/index.js';
import { RedisServer } from '../../services/redis/tests/redisServer.js';
import { ServedProcess } from '../../services/tests/servedProcess.js';
import type { SeededRandom } from '../../simulator/random/index.js';

/** What is killed while it works on jobs, and started again on what it has left. */
export interface KillSite {
  /** Of a server that is alive; of several any one. */
  client(): WindjammerClient;
  /** Kills something, and starts it again. @returns what it was */
  kill(): Promise<string>;
  stop(): Promise<void>;
}

/** One server with a data directory. */
export class EmbeddedSite implements KillSite {
  private constructor(
    private readonly folder: string,
    private server: ServedProcess,
  ) {}

  static async start(): Promise<EmbeddedSite> {
    const folder = newFolder();
    return new EmbeddedSite(folder, await started(['--data-dir', folder]));
  }

  client(): WindjammerClient {
    return this.server.client();
  }

  async kill(): Promise<string> {
    await this.server.end('SIGKILL');
    this.server = await started(['--data-dir', this.folder]);
    return 'server';
  }

  async stop(): Promise<void> {
    await this.server.end('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const FRONTENDS = 2;
const LONGEST_PAUSE_MS = 400;
/** Longer than others wait for it: they take what it had. */
const STALL_MS = 7000;

/** Frontends that share a Redis, which is killed, too. */
export class SharedSite implements KillSite {
  private readonly frontends: ServedProcess[] = [];

  private constructor(
    private readonly folder: string,
    private readonly redis: RedisServer,
    private readonly random: SeededRandom,
  ) {}

  static async start(random: SeededRandom): Promise<SharedSite> {
    const site = new SharedSite(newFolder(), await RedisServer.start(), random);
    for (let at = 0; at < FRONTENDS; at++) site.frontends.push(await site.frontend(at));
    return site;
  }

  client(): WindjammerClient {
    return this.frontends[this.any()].client();
  }

  async kill(): Promise<string> {
    const share = this.random.share();
    if (share < 0.45) {
      await this.redis.kill();
      await after(LONGEST_PAUSE_MS * this.random.share());
      await this.redis.run();
      return 'redis';
    }
    const at = this.any();
    if (share < 0.5) {
      this.frontends[at].signal('SIGSTOP');
      await after(STALL_MS);
      this.frontends[at].signal('SIGCONT');
      // What it does when it goes on is as likely to be wrong as anything: it is killed in the midst of it.
      await after(LONGEST_PAUSE_MS * this.random.share());
    }
    await this.frontends[at].end('SIGKILL');
    await after(LONGEST_PAUSE_MS * this.random.share());
    this.frontends[at] = await this.frontend(at);
    return share < 0.5 ? 'stalled frontend' : 'frontend';
  }

  async stop(): Promise<void> {
    for (const frontend of this.frontends) await frontend.end('SIGKILL');
    await this.redis.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private any(): number {
    return Math.floor(this.random.share() * FRONTENDS);
  }

  private frontend(at: number): Promise<ServedProcess> {
    return started(['--store', this.redis.url, '--data-dir', join(this.folder, `f${at}`)]);
  }
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'windjammer-job-kills-'));
}

const START_TRIES = 5;

/** A Redis that is just being started may not answer the first time. */
async function started(where: readonly string[]): Promise<ServedProcess> {
  for (let tries = 1; ; tries++) {
    try {
      return await ServedProcess.start([...where, '--no-defaults']);
    } catch (error) {
      if (tries === START_TRIES) throw error;
    }
  }
}
