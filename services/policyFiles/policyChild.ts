import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { packageRoot } from '../../simulator/files/index.js';
import { LineSplitter } from '../../simulator/text/index.js';
import type { PolicyProcessArguments } from './policyProcess.js';

/** Of the JavaScript heap, and of the whole process with Node itself. */
export const HEAP_MIB = 64;
export const MOST_MIB = 256;
const LINE_FD = 3;
/** A reply that is longer is none. */
const MOST_LINE_LENGTH = 16 * 1024 * 1024;
const MOST_LAST_WORDS = 4096;
/** What the process itself cannot do, should a policy ever get out of its context: write files, start programs, make code of text. */
const CONFINED = [
  '--disallow-code-generation-from-strings',
  // Later versions of Node have it by another name.
  ...['--permission', '--experimental-permission']
    .filter((flag) => process.allowedNodeEnvironmentFlags.has(flag))
    .slice(0, 1)
    .flatMap((flag) => [
      flag,
      '--allow-fs-read=*',
      '--allow-fs-write=/proc/self/oom_score_adj',
      '--allow-worker',
      '--no-warnings',
    ]),
];
/** Compiled JavaScript even when this side runs as TypeScript: Node itself loads it. */
const FILE = 'dist/services/policyFiles/policyProcess.js';

export interface PolicyChildListener {
  onLine(line: string): void;
  /** It is gone. Called once, unless it was closed. */
  onEnd(reason: string): void;
}

/** The server's end of the process in which a policy file runs. */
export class PolicyChild {
  private readonly child: ChildProcess;
  private readonly line: Duplex;
  private lastWords = '';
  private outgoing: string[] = [];
  private isOver = false;

  /** @throws Error when there is nothing to start */
  constructor(private readonly listener: PolicyChildListener) {
    const file = join(packageRoot(), FILE);
    if (!existsSync(file)) throw new Error(`${file} is missing: run 'npm run build' first`);
    const args: PolicyProcessArguments = { parentPid: process.pid, memoryMiB: MOST_MIB };
    const flags = [
      `--max-old-space-size=${HEAP_MIB}`,
      '--max-semi-space-size=4',
      '--stack-size=900',
      // Of the server's cores it takes one at most.
      '--single-threaded-gc',
      ...CONFINED,
    ];
    this.child = spawn(process.execPath, [...flags, file, JSON.stringify(args)], {
      cwd: '/',
      env: {},
      // A group of its own: Ctrl-C at the server's terminal does not end it before the drain.
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.lastWords = (this.lastWords + text).slice(-MOST_LAST_WORDS);
    });
    this.child.on('error', ({ message }) => this.end(`it could not be started: ${message}`));
    this.child.on('close', (code, signal) => this.end(this.reasonOf(code, signal)));
    this.line = this.child.stdio[LINE_FD] as Duplex;
    const lines = new LineSplitter((line) => {
      if (!this.isOver) listener.onLine(line);
    });
    this.line.setEncoding('utf8').on('data', (text: string) => {
      lines.push(text);
      if (lines.waiting > MOST_LINE_LENGTH) this.kill('it wrote a line without an end');
    });
    // Told by 'close', too.
    this.line.on('error', () => undefined);
    this.child.unref();
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Goes with what else is said in this turn of the event loop. */
  write(line: string): void {
    if (this.isOver) return;
    if (this.outgoing.length === 0) setImmediate(() => this.flush());
    this.outgoing.push(line);
  }

  /** Ends it at once. */
  kill(reason: string): void {
    this.child.kill('SIGKILL');
    this.end(reason);
  }

  /** Ends it at once; nobody is told. */
  close(): void {
    this.isOver = true;
    this.child.kill('SIGKILL');
  }

  private flush(): void {
    const lines = this.outgoing;
    this.outgoing = [];
    if (!this.isOver) this.line.write(`${lines.join('\n')}\n`);
  }

  private reasonOf(code: number | null, signal: NodeJS.Signals | null): string {
    const last = this.lastWords.trimEnd().split('\n');
    const memory = last.find((line) => line.startsWith('Memory error: '));
    if (memory !== undefined) return memory.slice('Memory error: '.length);
    if (this.lastWords.includes('heap out of memory'))
      return `its state and variables took more than ${HEAP_MIB} MiB`;
    return `its process ended with ${signal === null ? `exit code ${code}` : `signal ${signal}`}`;
  }

  private end(reason: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.listener.onEnd(reason);
  }
}
