import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { commandFile } from '../cli/index.js';

export interface CommandOptions {
  /** Words for Node itself. */
  readonly nodeWords?: readonly string[];
  /** It can be sent messages, which something in `nodeWords` answers. */
  readonly isAsked?: boolean;
  /** Another command file than that of this repository. */
  readonly command?: string;
}

/** A command of windjammer that runs until it is ended, as users run it: compiled, in a process of its own. */
export class RunningCommand {
  /** What it has written so far. */
  output = '';
  errors = '';
  readonly child: ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };
  private readonly gone: Promise<number | NodeJS.Signals | null>;

  constructor(
    private readonly words: readonly string[],
    environment: NodeJS.ProcessEnv = {},
    { nodeWords = [], isAsked = false, command = commandFile() }: CommandOptions = {},
  ) {
    this.child = spawn(process.execPath, [...nodeWords, command, ...words], {
      stdio: ['ignore', 'pipe', 'pipe', isAsked ? 'ipc' : 'ignore'],
      env: { ...process.env, ...environment },
    }) as typeof this.child;
    this.child.stdout.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.child.stderr.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    this.gone = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('exit', (code, by) => resolve(by ?? code));
    });
  }

  /** Waits until it says that it serves. @throws Error with what it wrote, if it ends before */
  async ready(): Promise<this> {
    const ended = this.gone.then((by) => {
      throw new Error(`${this.words[0]} ended with ${by}: ${this.errors}`);
    });
    ended.catch(() => undefined);
    while (!this.output.includes('Ctrl-C')) await Promise.race([once(this.child.stdout, 'data'), ended]);
    return this;
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error(`${this.words[0]} did not start`);
    return this.child.pid;
  }

  get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Exit code, or the signal that ended it, once it has. */
  ended(): Promise<number | NodeJS.Signals | null> {
    return this.gone;
  }

  /** Sends a signal, without waiting for what becomes of it. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Sends a signal and waits for the end: exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    this.child.kill(signal);
    return this.gone;
  }
}
