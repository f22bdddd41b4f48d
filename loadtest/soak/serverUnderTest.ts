import { execFileSync } from 'node:child_process';
import { ServedProcess } from '../../services/tests/servedProcess.js';
import { PROBED, sampleOf, watchLog } from './probed.js';
import type { ServerSample } from './serverProbe.js';
import type { Violations } from './violations.js';

const END_MS = 30_000;
/** Small, so that it is full soon and entries come and go. */
const CACHE = ['--cache-mib', '4'];

/** `windjammer serve` with a probe in it. */
export class ServerUnderTest {
  private isEnding = false;

  private constructor(
    private readonly served: ServedProcess,
    private readonly violations: Violations,
  ) {
    void served.ended().then((by) => {
      if (!this.isEnding) violations.add('the server died', `with ${by}`);
    });
  }

  static async start(seed: number, violations: Violations): Promise<ServerUnderTest> {
    const args = ['--ephemeral', '--no-defaults', '--seed', `${seed}`, '--clipper-port', '0', ...CACHE];
    const served = new ServedProcess(args, {}, PROBED);
    watchLog(served, (line) => violations.add('the server complained', line));
    return new ServerUnderTest(await served.ready(), violations);
  }

  get query(): string {
    return this.served.query;
  }

  /** Where containers dial in. */
  get containerPort(): number {
    const port = /dial in on \S+:(\d+)/.exec(this.served.output)?.[1];
    if (port === undefined)
      throw new Error(`serve has not said where containers dial in: ${this.served.output}`);
    return Number(port);
  }

  get isAlive(): boolean {
    return !this.served.hasExited;
  }

  sample(): Promise<ServerSample> {
    return sampleOf(this.served);
  }

  /** Processes of its containers: those that it has started, and the models that some of them keep. */
  containerPids(): number[] {
    const own = childrenOf([this.served.pid]);
    return own.length === 0 ? [] : [...own, ...childrenOf(own)];
  }

  /** @returns the body of the answer. @throws Error with what the server said. */
  async admin(verb: string, body: object): Promise<string> {
    const response = await fetch(`${this.served.management}/admin/${verb}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(END_MS),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${verb} ${JSON.stringify(body)}: ${response.status} ${text}`);
    return text;
  }

  /** The sum of a metric's samples. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.query}/metrics`)).text();
    const values = text
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
    if (values.length === 0) throw new Error(`the server has no metric ${name}`);
    return values.reduce((sum, value) => sum + value, 0);
  }

  /** Drains it; that it ends by itself with 0 is part of the test. */
  async end(): Promise<void> {
    this.isEnding = true;
    if (!this.isAlive) return;
    const late = setTimeout(() => {
      this.violations.add('the server does not end', `not within ${END_MS} ms of SIGTERM`);
      this.served.signal('SIGKILL');
    }, END_MS);
    const by = await this.served.end('SIGTERM');
    clearTimeout(late);
    if (by !== 0) this.violations.add('the server ended badly', `${by}`);
  }
}

function childrenOf(pids: readonly (number | undefined)[]): number[] {
  try {
    const text = execFileSync('pgrep', ['-P', pids.join(',')], { encoding: 'utf8' });
    return text.split('\n').filter(Boolean).map(Number);
  } catch (error) {
    // It ends with 1 when there is none.
    if ((error as { status?: number }).status === 1) return [];
    throw new Error('the processes of containers are found with pgrep, which this machine lacks', {
      cause: error,
    });
  }
}
