import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../simulator/files/index.js';
import { commandFile } from '../../services/cli/index.js';
import type { ServerSample } from './serverProbe.js';
import type { Violations } from './violations.js';

/** Compiled, as processes of their own need it, even when this runs as TypeScript. */
export function compiled(name: string): string {
  const file = join(packageRoot(), 'dist/loadtest', name);
  if (!existsSync(file)) throw new Error(`${file} is missing: run 'npm run build' first`);
  return file;
}

/** Levels of the log from which on something is broken and not only reported. */
const ERROR_LEVEL = 50;
const END_MS = 30_000;
/** Small, so that it is full soon and entries come and go. */
const CACHE = ['--cache-mib', '4'];

/** `windjammer serve` as users run it, in a process of its own with a probe in it. */
export class ServerUnderTest {
  private isEnding = false;

  private constructor(
    private readonly child: ChildProcess,
    readonly query: string,
    readonly management: string,
    private readonly violations: Violations,
  ) {}

  static start(seed: number, violations: Violations): Promise<ServerUnderTest> {
    const probe = ['--expose-gc', '--import', compiled('soak/serverProbe.js')];
    const serve = [commandFile(), 'serve', '--ephemeral', '--no-defaults', '--seed', `${seed}`, ...CACHE];
    const args = [...probe, ...serve, '--port', '0', '--management-port', '0'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    return new Promise((resolve, reject) => {
      let output = '';
      let server: ServerUnderTest | undefined;
      let errors = '';
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        if (server === undefined) errors += text;
        watchLog(text, violations);
      });
      child.stdout?.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const addresses = /serves on (\S+), management on (\S+), /.exec(output);
        if (server !== undefined || addresses === null || !output.includes('Ctrl-C')) return;
        server = new ServerUnderTest(child, addresses[1], addresses[2], violations);
        resolve(server);
      });
      child.once('exit', (code, signal) => {
        if (server === undefined)
          reject(new Error(`the server ended with ${code ?? signal}: ${output}${errors}`));
        else server.onExit(code, signal);
      });
    });
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  sample(): Promise<ServerSample> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('the server gave no sample in 10 s')), 10_000);
      this.child.once('message', (sample) => {
        clearTimeout(late);
        resolve(sample as ServerSample);
      });
      this.child.send('sample', (error) => {
        if (error === null) return;
        clearTimeout(late);
        reject(error);
      });
    });
  }

  /** Processes of its containers. */
  containerPids(): number[] {
    try {
      const text = execFileSync('pgrep', ['-P', String(this.child.pid)], { encoding: 'utf8' });
      return text.split('\n').filter(Boolean).map(Number);
    } catch (error) {
      // It ends with 1 when there is none.
      if ((error as { status?: number }).status === 1) return [];
      throw new Error('the processes of containers are found with pgrep, which this machine lacks', {
        cause: error,
      });
    }
  }

  /** @returns the body of the answer. @throws Error with what the server said. */
  async admin(verb: string, body: object): Promise<string> {
    const response = await fetch(`${this.management}/admin/${verb}`, {
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
    const ended = new Promise<void>((resolve) => {
      const late = setTimeout(() => {
        this.violations.add('the server does not end', `not within ${END_MS} ms of SIGTERM`);
        this.child.kill('SIGKILL');
      }, END_MS);
      this.child.once('exit', (code, signal) => {
        clearTimeout(late);
        if (code !== 0) this.violations.add('the server ended badly', `${code ?? signal}`);
        resolve();
      });
    });
    this.child.kill('SIGTERM');
    await ended;
  }

  private onExit(code: number | null, signal: NodeJS.Signals | null): void {
    if (!this.isEnding) this.violations.add('the server died', `with ${code ?? signal}`);
  }
}

/** Warnings are the log's business; an error, or a text that is no log line at all, is a defect. */
function watchLog(text: string, violations: Violations): void {
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const level = /^\{"level":(\d+)/.exec(line)?.[1];
    if (level === undefined || Number(level) >= ERROR_LEVEL) violations.add('the server complained', line);
  }
}
