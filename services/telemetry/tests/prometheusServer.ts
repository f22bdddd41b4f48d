import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installDebianPackage } from '../../../simulator/files/tests/debianPackage.js';

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Debian's Prometheus. Installed when it is missing. */
function install(): void {
  const isThere = () => existsSync('/usr/bin/prometheus') && existsSync('/usr/bin/promtool');
  installDebianPackage('prometheus', isThere);
}

/** What `promtool check metrics` says of a scrape: its exit code, 0 when nothing is wrong, and its complaints. */
export function checkMetrics(text: string): { readonly status: number | null; readonly complaints: string } {
  install();
  const { status, stdout, stderr } = spawnSync('/usr/bin/promtool', ['check', 'metrics'], {
    input: text,
    encoding: 'utf8',
  });
  return { status, complaints: stdout + stderr };
}

/** A Prometheus that scrapes one server, on a port that the system picks. */
export class PrometheusServer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly url: string,
    private readonly folder: string,
  ) {}

  /** @param target host:port */
  static start(target: string): Promise<PrometheusServer> {
    install();
    const folder = mkdtempSync(join(tmpdir(), 'windjammer-prometheus-'));
    const config = join(folder, 'prometheus.yml');
    writeFileSync(
      config,
      `global: { scrape_interval: 250ms }
scrape_configs:
  - job_name: windjammer
    static_configs: [{ targets: ['${target}'] }]
`,
    );
    const child = spawn(
      '/usr/bin/prometheus',
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        '--web.listen-address=127.0.0.1:0',
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    return new Promise((resolve, reject) => {
      let log = '';
      child.stderr.on('data', (chunk: Buffer) => {
        log += chunk.toString();
        const address = /Listening on"? address=(\S+)/.exec(log);
        if (address !== null && log.includes('Server is ready')) {
          resolve(new PrometheusServer(child, `http://${address[1]}`, folder));
        }
      });
      child.on('exit', (code) => reject(new Error(`prometheus ended with ${code}: ${log}`)));
    });
  }

  async targets(): Promise<readonly { readonly health: string; readonly lastError: string }[]> {
    const data = (await this.ask('targets')) as {
      activeTargets: readonly { health: string; lastError: string }[];
    };
    return data.activeTargets;
  }

  async query(promql: string): Promise<readonly Sample[]> {
    const data = (await this.ask(`query?query=${encodeURIComponent(promql)}`)) as {
      result: readonly { metric: Record<string, string>; value: readonly [number, string] }[];
    };
    return data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => {
      this.child.removeAllListeners('exit');
      this.child.on('exit', resolve);
    });
    this.child.kill('SIGTERM');
    await ended;
    rmSync(this.folder, { recursive: true });
  }

  private async ask(path: string): Promise<unknown> {
    const response = await fetch(`${this.url}/api/v1/${path}`);
    const body = (await response.json()) as { status: string; error?: string; data: unknown };
    if (body.status !== 'success') throw new Error(`${path}: ${body.error ?? response.status}`);
    return body.data;
  }
}
