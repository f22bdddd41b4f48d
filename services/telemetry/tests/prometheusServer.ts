import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installDebianPackage } from '../../../simulator/files/tests/debianPackage.js';

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** Unix time, in seconds. */
  readonly times: readonly number[];
  readonly values: readonly number[];
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

/** What `promtool` says of files. */
export function promtool(...words: readonly string[]): {
  readonly status: number | null;
  readonly output: string;
} {
  install();
  const { status, stdout, stderr } = spawnSync('/usr/bin/promtool', words, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

export interface ScrapeTarget {
  /** HOST:PORT. */
  readonly address: string;
  /** What Prometheus calls it, in place of its address. */
  readonly name?: string;
  readonly isSecure?: boolean;
  /** Where keys are required. */
  readonly key?: string;
}

export interface PrometheusOptions {
  readonly targets: readonly ScrapeTarget[];
  /** Texts of rule files. */
  readonly rules?: readonly string[];
  readonly intervalMs?: number;
}

/** Every target is one of the job `windjammer`. */
function configuration({ targets, intervalMs = 250 }: PrometheusOptions, rules: readonly string[]): string {
  return JSON.stringify({
    global: { scrape_interval: `${intervalMs}ms`, evaluation_interval: `${intervalMs}ms` },
    rule_files: rules,
    scrape_configs: targets.map(({ address, name = address, isSecure = false, key }, index) => ({
      job_name: `windjammer${index}`,
      scheme: isSecure ? 'https' : 'http',
      tls_config: { insecure_skip_verify: true },
      ...(key === undefined ? {} : { authorization: { credentials: key } }),
      static_configs: [{ targets: [address] }],
      relabel_configs: [
        { target_label: 'job', replacement: 'windjammer' },
        { target_label: 'instance', replacement: name },
      ],
    })),
  });
}

/** A Prometheus that scrapes servers, on a port that the system picks. */
export class PrometheusServer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly url: string,
    private readonly folder: string,
  ) {}

  static start(options: PrometheusOptions): Promise<PrometheusServer> {
    install();
    const folder = mkdtempSync(join(tmpdir(), 'windjammer-prometheus-'));
    const config = join(folder, 'prometheus.yml');
    const rules = (options.rules ?? []).map((text, index) => {
      const file = join(folder, `${index}.rules.yml`);
      writeFileSync(file, text);
      return file;
    });
    // JSON is YAML.
    writeFileSync(config, configuration(options, rules));
    const child = spawn(
      '/usr/bin/prometheus',
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        '--web.listen-address=127.0.0.1:0',
        '--enable-feature=exemplar-storage',
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

  /** Every value of the last minutes, by series. */
  async queryRange(promql: string, seconds: number, stepSeconds: number): Promise<readonly Series[]> {
    const end = Date.now() / 1000;
    const range = `start=${end - seconds}&end=${end}&step=${stepSeconds}`;
    const data = (await this.ask(`query_range?query=${encodeURIComponent(promql)}&${range}`)) as {
      result: readonly { metric: Record<string, string>; values: readonly (readonly [number, string])[] }[];
    };
    return data.result.map(({ metric, values }) => ({
      metric,
      times: values.map(([time]) => time),
      values: values.map(([, value]) => Number(value)),
    }));
  }

  /** Labels of the exemplars of the last minutes. */
  async exemplars(promql: string, seconds: number): Promise<readonly Readonly<Record<string, string>>[]> {
    const end = Date.now() / 1000;
    const range = `start=${end - seconds}&end=${end}`;
    const data = (await this.ask(
      `query_exemplars?query=${encodeURIComponent(promql)}&${range}`,
    )) as readonly {
      exemplars: readonly { labels: Record<string, string> }[];
    }[];
    return data.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels));
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
