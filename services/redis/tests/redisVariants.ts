import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateFile } from '../../http/tests/servers.js';
import { freePort, RedisServer } from './redisServer.js';

/** A Redis, however it is set up. */
export interface RedisVariant {
  /** For `--store` and `--join`. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Asks by Redis' own client, which knows all forms of TLS and of answers. */
function cli(port: number, ...words: readonly string[]): string {
  return execFileSync('/usr/bin/redis-cli', ['-p', String(port), ...words], { encoding: 'utf8' }).trim();
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** One that speaks TLS alone, and whose clients must show a certificate. */
export async function startTlsRedis(): Promise<RedisVariant> {
  const port = await freePort();
  const server = await RedisServer.start({
    words: [
      ...['--tls-port', String(port), '--tls-cert-file', certificateFile('server')],
      ...[
        '--tls-key-file',
        certificateFile('server-key'),
        '--tls-ca-cert-file',
        certificateFile('authority'),
      ],
    ],
  });
  const files = { ca: 'authority', cert: 'client', key: 'client-key' };
  const query = Object.entries(files).map(([part, name]) => `${part}=${certificateFile(name)}`);
  return { url: `rediss://127.0.0.1:${port}?${query.join('&')}`, stop: () => server.stop() };
}

/** A Redis Cluster of three primaries. */
export class RedisCluster implements RedisVariant {
  private constructor(private readonly servers: readonly RedisServer[]) {}

  static async start(): Promise<RedisCluster> {
    const words = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'];
    const servers = await Promise.all(
      [0, 1, 2].map(async () =>
        RedisServer.start({ words: [...words, '--cluster-port', String(await freePort())] }),
      ),
    );
    const hosts = servers.map(({ port }) => `127.0.0.1:${port}`);
    execFileSync('/usr/bin/redis-cli', ['--cluster', 'create', ...hosts, '--cluster-yes'], { stdio: 'pipe' });
    await until(() => servers.every(({ port }) => cli(port, 'cluster', 'info').includes('cluster_state:ok')));
    return new RedisCluster(servers);
  }

  get url(): string {
    return `redis+cluster://${this.servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  }

  /** The primary that has the slot of a key. */
  ownerOf(key: string): RedisServer {
    const [first] = this.servers;
    const slot = Number(cli(first.port, 'cluster', 'keyslot', key));
    const owner = this.servers.find(({ port }) => {
      const own = /myself,master .* (\d+)-(\d+)$/m.exec(cli(port, 'cluster', 'nodes'));
      return own !== null && Number(own[1]) <= slot && slot <= Number(own[2]);
    });
    if (owner === undefined) throw new Error(`no primary has slot ${slot}`);
    return owner;
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}

/** A primary, its replica, and three sentinels that watch over them. */
export class WatchedRedis implements RedisVariant {
  private constructor(
    private readonly servers: readonly [RedisServer, RedisServer],
    private readonly sentinels: readonly RedisServer[],
    private readonly folder: string,
  ) {}

  static async start(): Promise<WatchedRedis> {
    const primary = await RedisServer.start();
    const replica = await RedisServer.start({ words: ['--replicaof', '127.0.0.1', String(primary.port)] });
    const folder = mkdtempSync(join(tmpdir(), 'windjammer-sentinels-'));
    const sentinels = await Promise.all(
      [0, 1, 2].map(async (number) => {
        const file = join(folder, `${number}.conf`);
        const watched = [
          `sentinel monitor main 127.0.0.1 ${primary.port} 2`,
          'sentinel down-after-milliseconds main 1000',
          'sentinel failover-timeout main 5000',
        ];
        writeFileSync(file, `${watched.join('\n')}\n`);
        return RedisServer.startSentinel(file);
      }),
    );
    const watched = new WatchedRedis([primary, replica], sentinels, folder);
    const known = (port: number, word: string) => cli(port, 'sentinel', word, 'main').includes('name');
    await until(() => sentinels.every(({ port }) => known(port, 'replicas') && known(port, 'sentinels')));
    await until(() => cli(replica.port, 'info', 'replication').includes('master_link_status:up'));
    return watched;
  }

  get url(): string {
    return `redis+sentinel://${this.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/main`;
  }

  /** Waits until the replica has all, and ends the primary as a power cut would: another one takes over. */
  async killPrimary(): Promise<void> {
    const [primary, replica] = this.servers;
    const offset = (port: number) => /master_repl_offset:(\d+)/.exec(cli(port, 'info', 'replication'))?.[1];
    await until(() => offset(primary.port) === offset(replica.port));
    await primary.kill();
    await until(() => cli(replica.port, 'role').startsWith('master'));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.sentinels, ...this.servers].map((server) => server.stop()));
    rmSync(this.folder, { recursive: true });
  }
}
