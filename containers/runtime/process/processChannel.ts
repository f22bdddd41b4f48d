import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { packageRoot } from '../../models/index.js';
import {
  encodeFrame,
  FrameReader,
  PROTOCOL_VERSION,
  ProtocolError,
  type ContainerChannel,
  type ContainerFrame,
  type FrameSink,
  type FrontendFrame,
  type HelloFrame,
  type InputType,
} from '../../protocol/index.js';
import type { ReplicaIdentity } from '../modelContainer.js';
import { LineLog } from './lineLog.js';
import type { ProcessArguments } from './modelProcess.js';
import { modulePath, moduleRefusal } from './modulePath.js';

export interface ProcessStart extends ReplicaIdentity {
  /** The module of the model. */
  readonly path: string;
  /** What the registry says; any when undefined. */
  readonly inputType?: InputType;
  readonly inputLength?: number;
  /** Of the JavaScript heap; Node's own choice when undefined. */
  readonly memoryMiB?: number;
}

export interface ProcessLimits {
  /** From the start to `hello`. */
  readonly startMs: number;
  /** A batch that takes longer is taken for one that never ends. */
  readonly batchMs: number;
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs: number;
}

export const DEFAULT_LIMITS: ProcessLimits = { startMs: 30_000, batchMs: 60_000, graceMs: 2000 };

/** Compiled JavaScript even when this side runs as TypeScript: Node itself loads it. */
const PROCESS_FILE = 'dist/containers/runtime/process/modelProcess.js';
const LINE_FD = 3;
/** What the process has said may still be on its way when it has ended; one that it started may hold its pipes. */
const LAST_WORDS_MS = 200;
/** Of the server's environment, what a model's process gets. */
const ENVIRONMENT = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'NODE_ENV', 'NODE_EXTRA_CA_CERTS'];

/** The server's end of a line to a process of its own that runs a user's module. */
export class ProcessChannel implements ContainerChannel {
  private early: ContainerFrame[] = [];
  private sink: FrameSink<ContainerFrame> | undefined;
  private isOver = false;
  private isClosed = false;
  private isEnded = false;
  private child: ChildProcess | undefined;
  private line: Duplex | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly log: LineLog;
  /** Batches that are not answered. */
  private readonly inFlight = new Set<number>();
  private introduced = false;

  /** @param onChange the process has ended, or a batch was answered or lost. */
  constructor(
    private readonly request: ProcessStart,
    private readonly limits: ProcessLimits,
    private readonly onChange: () => void,
  ) {
    this.log = new LineLog(
      () => performance.now(),
      (text) => this.deliver({ kind: 'printed', text }),
    );
    const refusal = moduleRefusal(request.path);
    if (refusal !== undefined) {
      this.isEnded = true;
      this.fail(refusal);
      return;
    }
    try {
      this.spawn();
    } catch (error) {
      this.isEnded = this.child === undefined;
      this.fail(`cannot start a process: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  get ended(): boolean {
    return this.isEnded;
  }

  get batchesInFlight(): number {
    return this.inFlight.size;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  send(frame: FrontendFrame): void {
    if (this.isOver) return;
    if (frame.kind === 'predict') {
      this.inFlight.add(frame.batchId);
      if (this.inFlight.size === 1) this.watchBatch();
    }
    try {
      this.line?.write(encodeFrame(frame));
    } catch (error) {
      if (!(error instanceof ProtocolError) || frame.kind !== 'predict') throw error;
      // Not inside this call.
      const { message } = error;
      const results = frame.items.map(({ id }) => ({ id, ok: false, code: 'modelError', message }) as const);
      const { batchId } = frame;
      setImmediate(() => this.onFrame({ kind: 'result', batchId, results, serviceNs: 0 }));
    }
  }

  open(sink: FrameSink<ContainerFrame>): void {
    if (this.sink !== undefined) throw new Error('the channel is open already');
    this.sink = sink;
    const { early } = this;
    this.early = [];
    // What came before the channel was opened arrives right after, and not inside this call.
    queueMicrotask(() => {
      for (const frame of early) if (!this.isClosed) sink.onFrame(frame);
    });
  }

  close(): void {
    this.isClosed = true;
    if (!this.isOver) this.finish();
  }

  private spawn(): void {
    const file = join(packageRoot(), PROCESS_FILE);
    if (!existsSync(file)) throw new Error(`${file} is missing: run 'npm run build' first`);
    const { model, version, replica, memoryMiB } = this.request;
    const path = modulePath(this.request.path);
    const args: ProcessArguments = { path, model, version, replica, parentPid: process.pid };
    const memory = memoryMiB === undefined ? [] : [`--max-old-space-size=${memoryMiB}`];
    const child = spawn(process.execPath, [...memory, file, JSON.stringify(args)], {
      cwd: dirname(path),
      env: Object.fromEntries(ENVIRONMENT.map((name) => [name, process.env[name]])),
      // A pipe of Node is one end of a socket pair: both ways, and nobody else can dial in.
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    this.child = child;
    child.on('error', (error) => {
      if (child.pid === undefined) this.end();
      this.fail(`cannot start a process: ${error.message}`);
    });
    child.on('exit', (code, signal) => {
      const why = signal === null ? `exit code ${code}` : `signal ${signal}`;
      const tell = (): void => {
        clearTimeout(late);
        this.log.end();
        const { lastError } = this.log;
        this.fail(`its process ended with ${why}${lastError === '' ? '' : `: ${lastError}`}`);
        this.end();
      };
      const late = setTimeout(tell, LAST_WORDS_MS);
      child.once('close', tell);
    });
    if (child.pid === undefined) return;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.log.push(text));
    }
    this.line = child.stdio[LINE_FD] as Duplex;
    const reader = new FrameReader((frame) => this.onFrame(frame));
    this.line.on('data', (piece: Buffer) => {
      if (this.isOver) return;
      try {
        reader.push(piece);
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        this.fail(`its process sent what is no frame: ${error.message}`);
      }
    });
    // A line that breaks is one whose process ends, or is ended.
    this.line.on('error', () => this.kill());
    this.line.on('end', () => this.kill());
    this.timer = setTimeout(
      () => this.fail(`its process said nothing for ${this.limits.startMs / 1000} s from its start`),
      this.limits.startMs,
    );
  }

  private onFrame(frame: FrontendFrame | ContainerFrame): void {
    if (this.isOver) return;
    switch (frame.kind) {
      case 'predict':
      case 'cancel':
        this.fail(`its process sent '${frame.kind}', which is the server's to send`);
        return;
      case 'hello': {
        const refusal = this.helloRefusal(frame);
        if (refusal !== undefined) {
          this.fail(refusal);
          return;
        }
        this.introduced = true;
        clearTimeout(this.timer);
        break;
      }
      case 'result':
        if (this.inFlight.delete(frame.batchId)) this.watchBatch();
        break;
      case 'down':
        this.fail(frame.reason);
        return;
      case 'credit':
      case 'printed':
        break;
    }
    if (!this.introduced && frame.kind !== 'printed') {
      this.fail(`its process sent '${frame.kind}' before 'hello'`);
      return;
    }
    this.deliver(frame);
    if (frame.kind === 'result') this.onChange();
  }

  private helloRefusal(hello: HelloFrame): string | undefined {
    const { path, model, version, replica, inputType = hello.inputType, inputLength } = this.request;
    const who = `model '${model}' version '${version}'`;
    if (this.introduced) return `its process said 'hello' twice`;
    if (hello.protocolVersion !== PROTOCOL_VERSION) {
      return `its process speaks protocol version ${hello.protocolVersion}, this side version ${PROTOCOL_VERSION}`;
    }
    if (hello.model !== model || hello.version !== version || hello.replica !== replica) {
      return `its process says that it is model '${hello.model}' version '${hello.version}', not ${who}`;
    }
    if (hello.inputType !== inputType) {
      return `${path}: inputType: the model takes ${hello.inputType}, ${who} is registered with ${inputType}`;
    }
    if (inputLength !== undefined && hello.inputLength !== inputLength) {
      return `${path}: inputLength: the model takes ${hello.inputLength} values, ${who} is registered with ${inputLength}`;
    }
    return undefined;
  }

  private watchBatch(): void {
    clearTimeout(this.timer);
    if (this.inFlight.size === 0) return;
    const { batchMs } = this.limits;
    this.timer = setTimeout(
      () => this.fail(`its process did not answer a batch for ${batchMs / 1000} s`, true),
      batchMs,
    );
  }

  private deliver(frame: ContainerFrame): void {
    if (this.isOver) return;
    if (this.sink === undefined) this.early.push(frame);
    else this.sink.onFrame(frame);
  }

  /** The first reason is told; others follow from it. */
  private fail(reason: string, isStuck = false): void {
    if (this.isOver) return;
    this.deliver({ kind: 'down', reason });
    this.finish();
    if (isStuck) this.kill();
  }

  private finish(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.inFlight.clear();
    this.onChange();
    const { child } = this;
    if (child === undefined || this.isEnded) return;
    this.line?.end();
    child.kill('SIGTERM');
    this.timer = setTimeout(() => this.kill(), this.limits.graceMs);
  }

  private kill(): void {
    this.child?.kill('SIGKILL');
  }

  private end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    clearTimeout(this.timer);
    this.onChange();
  }
}
