import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { commandFile } from '../cli/index.js';

/** `windjammer serve` as users run it: compiled, in a process of its own, on ports that the system picks. */
export class ServedProcess {
  /** What it has written on standard error. */
  errors = '';

  private constructor(
    private readonly child: ChildProcess,
    readonly query: string,
    readonly management: string,
    /** What it printed when it was ready. */
    readonly banner: string,
  ) {}

  /** Only starts it. @param environment beside that of the test. */
  static spawn(
    args: readonly string[],
    environment: NodeJS.ProcessEnv = {},
  ): ChildProcessByStdio<null, Readable, Readable> {
    return spawn(
      process.execPath,
      [commandFile(), 'serve', '--port', '0', '--management-port', '0', ...args],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...environment },
      },
    );
  }

  /** Starts it and waits until it is ready. */
  static start(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<ServedProcess> {
    const child = ServedProcess.spawn(args, environment);
    return new Promise((resolve, reject) => {
      let output = '';
      let errors = '';
      child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const addresses = /serves on (\S+), management on (\S+), /.exec(output);
        if (addresses === null || !output.includes('Ctrl-C')) return;
        const served = new ServedProcess(child, addresses[1], addresses[2], output);
        served.errors = errors;
        child.stderr.on('data', (chunk: Buffer) => (served.errors += chunk.toString()));
        resolve(served);
      });
      child.on('error', reject);
      child.on('exit', (code) => reject(new Error(`serve ended with ${code}: ${errors}`)));
    });
  }

  /** Sends a signal, without waiting for what becomes of it. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Sends a signal and waits for the end: exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    return new Promise((resolve) => {
      this.child.removeAllListeners('exit');
      this.child.on('exit', (code, by) => resolve(by ?? code));
      this.child.kill(signal);
    });
  }

  async post(
    url: string,
    body: unknown,
  ): Promise<{ readonly status: number; readonly json: unknown; readonly text: string }> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    return { status: response.status, text, json: isJson ? (JSON.parse(text) as unknown) : undefined };
  }

  async admin(verb: string, body: unknown): Promise<unknown> {
    const { status, json, text } = await this.post(`${this.management}/admin/${verb}`, body);
    if (status !== 200) throw new Error(`${verb}: ${status} ${text}`);
    return json;
  }
}
