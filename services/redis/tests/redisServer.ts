import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installDebianPackage } from '../../../simulator/files/tests/debianPackage.js';

export const SERVER = '/usr/bin/redis-server';

/** Redis takes no port 0. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export interface RedisServerOptions {
  /** Whether each write is on disk before it is answered; true unless given. */
  readonly isDurable?: boolean;
  /** Further words of its command line, such as `--requirepass secret`. */
  readonly words?: readonly string[];
}

/** A real Redis on a port that the system picks, with a folder of its own. It may be killed and started again. */
export class RedisServer {
  private child: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    readonly folder: string,
    private readonly words: readonly string[],
    private readonly file?: string,
  ) {}

  static async start({ isDurable = true, words = [] }: RedisServerOptions = {}): Promise<RedisServer> {
    installDebianPackage('redis-server', () => existsSync(SERVER));
    const folder = mkdtempSync(join(tmpdir(), 'windjammer-redis-'));
    const durability = isDurable
      ? ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '']
      : ['--appendonly', 'no', '--save', ''];
    const server = new RedisServer(await freePort(), folder, [...durability, ...words]);
    await server.run();
    return server;
  }

  /** @param file its configuration, which it writes in, too */
  static async startSentinel(file: string): Promise<RedisServer> {
    const folder = mkdtempSync(join(tmpdir(), 'windjammer-redis-'));
    const sentinel = new RedisServer(await freePort(), folder, ['--sentinel'], file);
    await sentinel.run();
    return sentinel;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    if (this.child?.pid === undefined) throw new Error('this Redis is not running');
    return this.child.pid;
  }

  /** Starts it (again), on the same port and folder. */
  async run(): Promise<void> {
    const child = spawn(
      SERVER,
      [
        ...(this.file === undefined ? [] : [this.file]),
        '--bind',
        '127.0.0.1',
        '--port',
        String(this.port),
        '--dir',
        this.folder,
        '--daemonize',
        'no',
        ...this.words,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    this.child = child;
    let log = '';
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        if (log.length < 100_000) log += chunk.toString();
        if (/Ready to accept connections|Sentinel ID is/.test(log)) resolve();
      });
      child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}: ${log}`)));
    });
  }

  /** Ends it as a power cut would; what is on disk stays. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** It answers nobody, and keeps its connections open, until `proceed`. */
  pause(): void {
    this.child?.kill('SIGSTOP');
  }

  proceed(): void {
    this.child?.kill('SIGCONT');
  }

  /** Ends it for good. */
  async stop(): Promise<void> {
    await this.end('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}
