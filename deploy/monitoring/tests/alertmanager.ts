import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../services/redis/tests/redisServer.js';
import { installDebianPackage } from '../../../simulator/files/tests/debianPackage.js';

const SERVER = '/usr/bin/prometheus-alertmanager';
const TOOL = '/usr/bin/amtool';
const PATIENCE_MS = 30_000;

function install(): void {
  installDebianPackage('prometheus-alertmanager', () => existsSync(SERVER) && existsSync(TOOL));
}

/** What `amtool` says of a configuration. */
export function checkConfiguration(file: string): {
  readonly status: number | null;
  readonly output: string;
} {
  install();
  const { status, stdout, stderr } = spawnSync(TOOL, ['check-config', file], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

/** Debian's Alertmanager, alone, on a port that the system picks. Installed when it is missing. */
export class Alertmanager {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly url: string,
  ) {}

  static async start(configuration: string): Promise<Alertmanager> {
    install();
    const folder = mkdtempSync(join(tmpdir(), 'windjammer-alertmanager-'));
    const file = join(folder, 'alertmanager.yml');
    writeFileSync(file, configuration);
    const address = `127.0.0.1:${await freePort()}`;
    const words = [
      `--config.file=${file}`,
      `--storage.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--cluster.listen-address=',
    ];
    const child = spawn(SERVER, words, { stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
    const manager = new Alertmanager(child, folder, `http://${address}`);
    const endMs = Date.now() + PATIENCE_MS;
    while (!(await manager.isReady())) {
      if (child.exitCode === null && Date.now() < endMs) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        continue;
      }
      await manager.stop();
      throw new Error(`alertmanager is not ready: ${log}`);
    }
    return manager;
  }

  /** As Prometheus sends them. */
  async send(alerts: readonly object[]): Promise<void> {
    const response = await fetch(`${this.url}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(alerts),
    });
    if (!response.ok) throw new Error(await response.text());
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.folder, { recursive: true });
  }

  private async isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/-/ready`)).ok;
    } catch {
      return false;
    }
  }
}
