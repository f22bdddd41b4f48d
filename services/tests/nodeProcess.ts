import { spawn, type ChildProcess } from 'node:child_process';
import { commandFile } from '../cli/index.js';

/** `windjammer node` as users run it: compiled, in a process of its own. */
export class NodeProcess {
  errors = '';
  output = '';

  private constructor(
    private readonly child: ChildProcess,
    /** Where servers dial it. */
    readonly url: string,
  ) {}

  /** Starts it and waits until it listens; on a port that the system picks unless `listen` is given. */
  static start(name: string, args: readonly string[] = [], listen = '127.0.0.1:0'): Promise<NodeProcess> {
    const child = spawn(
      process.execPath,
      [commandFile(), 'node', '--name', name, '--listen', listen, ...args],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    return new Promise((resolve, reject) => {
      let output = '';
      let errors = '';
      child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
      const onOutput = (chunk: Buffer): void => {
        output += chunk.toString();
        const url = /listens on (\S+)\n/.exec(output)?.[1];
        if (url === undefined || !output.includes('Ctrl-C')) return;
        child.stdout.off('data', onOutput);
        const node = new NodeProcess(child, url);
        node.errors = errors;
        child.stderr.on('data', (more: Buffer) => (node.errors += more.toString()));
        child.stdout.on('data', (more: Buffer) => (node.output += more.toString()));
        resolve(node);
      };
      child.stdout.on('data', onOutput);
      child.on('error', reject);
      child.on('exit', (code) => reject(new Error(`node ended with ${code}: ${errors}`)));
    });
  }

  /** `HOST:PORT`, to start another one there. */
  get address(): string {
    return new URL(this.url).host;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Sends a signal and waits for the end: exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    const { child } = this;
    if (child.exitCode !== null || child.signalCode !== null)
      return Promise.resolve(child.signalCode ?? child.exitCode);
    return new Promise((resolve) => {
      child.removeAllListeners('exit');
      child.on('exit', (code, by) => resolve(by ?? code));
      child.kill(signal);
    });
  }
}
