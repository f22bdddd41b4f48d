import { spawn, type ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import type { PrintedFrame } from '../../protocol/index.js';
import { childEnvironment, environmentRefusal } from './childEnvironment.js';
import { childProgram, type ChildIdentity } from './childProgram.js';
import { LineLog } from './lineLog.js';
import type { OwnProcessSource } from './processSource.js';

export interface ChildListener {
  onPiece(piece: Buffer): void;
  onPrinted(text: string, stream: NonNullable<PrintedFrame['stream']>): void;
  /** The process is gone. Called once. */
  onEnd(reason: string): void;
  /** It lives and has closed its line. */
  onLineClosed(): void;
}

const LINE_FD = 3;
/** What the process has said may still be on its way when it has ended. */
const LAST_WORDS_MS = 200;
/** In each such window reading what a stream prints may take so long: a twentieth of the server's time. */
const PRINT_WINDOW_MS = 100;
const MOST_PRINT_MS = 5;
/** A line that ends without its process ending this soon was closed by it. */
const LINE_CLOSED_MS = 500;

/** A process, in a process group of its own, that runs a user's model; with a socket pair to it. */
export class ModelChild {
  private readonly child: ChildProcess;
  private readonly line: Duplex | undefined;
  private readonly logs: readonly LineLog[];
  private lineTimer: NodeJS.Timeout | undefined;
  private isEnded = false;

  /** @throws Error when there is nothing to start; a start that fails later is `onEnd`. */
  constructor(
    source: OwnProcessSource,
    identity: ChildIdentity,
    private readonly listener: ChildListener,
  ) {
    const { environment = [] } = source;
    const refusal = environmentRefusal(environment);
    if (refusal !== undefined) throw new Error(refusal);
    const { flags, file, folder, args } = childProgram(source, identity);
    this.child = spawn(process.execPath, [...flags, file, JSON.stringify(args)], {
      cwd: folder,
      env: childEnvironment(environment),
      // A group of its own: Ctrl-C at the server's terminal does not end models before the drain, and whatever a model
      // starts ends with it.
      detached: true,
      // A pipe of Node is one end of a socket pair: both ways, and nobody else can dial in.
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    this.logs = (['stderr', 'stdout'] as const).map((stream) => this.logOf(stream));
    this.child.on('error', ({ message }) => {
      if (this.child.pid === undefined) this.end(`cannot start a process: ${message}`);
    });
    this.child.on('exit', (code, signal) => this.onExit(code, signal));
    this.line = this.child.pid === undefined ? undefined : (this.child.stdio[LINE_FD] as Duplex);
    this.line?.on('data', (piece: Buffer) => listener.onPiece(piece));
    // Told by 'end' or 'exit', too.
    this.line?.on('error', () => undefined);
    this.line?.on('end', () => {
      this.lineTimer = setTimeout(() => listener.onLineClosed(), LINE_CLOSED_MS);
    });
  }

  get ended(): boolean {
    return this.isEnded;
  }

  get pid(): number | undefined {
    return this.isEnded ? undefined : this.child.pid;
  }

  write(bytes: Uint8Array): void {
    this.line?.write(bytes);
  }

  /** The process is to end by itself. */
  closeLine(): void {
    this.line?.end();
  }

  /** Ends the process, and what it started, with SIGKILL. */
  kill(): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // ESRCH: nobody of the group is left.
    }
  }

  private logOf(stream: 'stdout' | 'stderr'): LineLog {
    const log = new LineLog(
      () => performance.now(),
      (text) => this.listener.onPrinted(text, stream),
    );
    const pipe = this.child[stream];
    let untilMs = 0;
    let spentMs = 0;
    pipe?.setEncoding('utf8').on('data', (text: string) => {
      const beganMs = performance.now();
      log.push(text);
      const nowMs = performance.now();
      if (nowMs >= untilMs) {
        untilMs = nowMs + PRINT_WINDOW_MS;
        spentMs = 0;
      }
      spentMs += nowMs - beganMs;
      if (spentMs < MOST_PRINT_MS) return;
      // Who prints without end waits, and nobody else.
      pipe.pause();
      setTimeout(() => pipe.resume(), untilMs - nowMs);
    });
    return log;
  }

  private onExit(code: number | null, signal: NodeJS.Signals | null): void {
    clearTimeout(this.lineTimer);
    // Processes that it started hold its pipes.
    this.kill();
    const why = signal === null ? `exit code ${code}` : `signal ${signal}`;
    const tell = (): void => {
      clearTimeout(late);
      for (const log of this.logs) log.end();
      const lastError = this.logs.map((log) => log.recentError()).find((error) => error !== '');
      this.end(`its process ended with ${why}${lastError === undefined ? '' : `: ${lastError}`}`);
    };
    const late = setTimeout(tell, LAST_WORDS_MS);
    this.child.once('close', tell);
  }

  private end(reason: string): void {
    if (this.isEnded) return;
    this.isEnded = true;
    clearTimeout(this.lineTimer);
    this.listener.onEnd(reason);
  }
}
