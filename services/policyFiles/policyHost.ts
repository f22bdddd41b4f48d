import { availableParallelism, setPriority } from 'node:os';
import { PolicyChild } from './policyChild.js';
import { StartTurns } from './startTurns.js';

/** Why a policy file was not followed. */
export type PolicyFaultKind =
  /** It threw. */
  | 'threw'
  /** What it gave is not what a policy gives. */
  | 'bad_answer'
  /** It had not answered when its time was over. */
  | 'late'
  /** It answered nothing for so long that its process was ended. */
  | 'stuck'
  /** Its process ended: of memory, mostly. */
  | 'ended'
  /** The file could not be loaded. */
  | 'unloadable';

export interface PolicyFault {
  readonly kind: PolicyFaultKind;
  readonly message: string;
}

export interface PolicyFile {
  /** Of the file, for messages. */
  readonly name: string;
  readonly text: string;
}

/** What is asked of the process, without its number. */
export type PolicyRequest = { readonly op: string } & { readonly [member: string]: unknown };

export interface PolicyReply {
  readonly id: number;
  readonly fault?: { readonly kind: string; readonly message: string; readonly field?: string };
  readonly [member: string]: unknown;
}

/**
 * @param reply undefined: it has none, and will not have one
 * @param length of it, in characters
 */
export type ReplyDone = (reply: PolicyReply | undefined, length: number) => void;

/** One request under way. */
export interface Ask {
  readonly id: number;
  readonly op: string;
  readonly sentMs: number;
  done: ReplyDone | undefined;
}

export interface PolicyHostListener {
  /** A process is ready, and knows nothing of earlier requests. */
  onUp(): void;
  /** The process is gone. @param first of the requests that it has not answered */
  onDown(first: Ask | undefined): void;
  onFault(fault: PolicyFault): void;
  onPrinted(text: string): void;
}

/** A process that answers nothing for so long is taken for one that loops. */
const STUCK_MS = 1000;
const LOAD_MS = 5000;
const LOOK_EVERY_MS = 100;
/** Requests under way; more are not taken. */
const MOST_ASKS = 4096;
/** Until it is started again: doubled each time, up to the longest; back to the shortest once it has lived for a while. */
const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 60_000;
const LIVED_MS = 30_000;
/**
 * Processes of all applications that are starting or, where they are started again, have yet to show that they can be asked: however
 * many loop or die at once, they do so one after the other, and those that have done so least are first.
 */
const STARTS = new StartTurns(Math.max(1, availableParallelism() >> 1));
/** One that was started again has shown it by so many answers, or when nobody asks it for so long. */
const PROVEN_ANSWERS = 20;
const UNASKED_MS = 500;
/** From this pause on its process gives way to others of the machine. */
const GIVES_WAY_FROM_MS = 400;
const GIVES_WAY_NICENESS = 10;

/** Keeps a process with a policy file: starts it, ends it when it hangs, starts it again. */
export class PolicyHost {
  private child: PolicyChild | undefined;
  private isUp = false;
  private upMs = 0;
  private readonly asks = new Map<number, Ask>();
  private nextId = 1;
  private pauseMs = SHORTEST_PAUSE_MS;
  private restart: NodeJS.Timeout | undefined;
  private readonly look: NodeJS.Timeout;
  private lookedMs = performance.now();
  private startedMs = 0;
  private askedMs = 0;
  private isClosed = false;
  private leaveStart: (() => void) | undefined;
  private answers = 0;
  /** Times that it was started again. */
  restarts = 0;

  constructor(
    private readonly file: PolicyFile,
    private readonly listener: PolicyHostListener,
  ) {
    this.look = setInterval(() => this.watch(), LOOK_EVERY_MS);
    this.look.unref();
    this.start();
  }

  /** Requests are answered. */
  get ready(): boolean {
    return this.isUp;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** @returns undefined, and `done` is not called, where nobody is there to be asked */
  ask(request: PolicyRequest, done: ReplyDone): Ask | undefined {
    if (!this.isUp || this.asks.size >= MOST_ASKS) return undefined;
    this.askedMs = performance.now();
    const ask: Ask = { id: this.nextId++, op: request.op, sentMs: this.askedMs, done };
    this.asks.set(ask.id, ask);
    this.child?.write(JSON.stringify({ id: ask.id, ...request }));
    return ask;
  }

  /** Says something that has no reply. @returns its length in characters */
  tell(request: PolicyRequest): number {
    const text = JSON.stringify(request);
    if (this.isUp) this.child?.write(text);
    return text.length;
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.look);
    clearTimeout(this.restart);
    this.leaveStart?.();
    this.child?.close();
    this.isUp = false;
    this.giveUp();
  }

  private start(): void {
    this.answers = 0;
    this.leaveStart = STARTS.take(this.restarts === 0 ? 0 : this.pauseMs, () => {
      // Behind `leaveStart`, which it calls.
      queueMicrotask(() => this.run());
    });
  }

  private run(): void {
    if (this.isClosed) return;
    this.startedMs = performance.now();
    try {
      this.child = new PolicyChild({
        onLine: (line) => this.onLine(line),
        onEnd: (reason) => this.onEnd({ kind: 'ended', message: reason }),
      });
    } catch (error) {
      this.child = undefined;
      this.onEnd({ kind: 'ended', message: (error as Error).message });
      return;
    }
    if (this.pauseMs > GIVES_WAY_FROM_MS) giveWay(this.child.pid);
    this.child.write(JSON.stringify(this.file));
  }

  private onLine(line: string): void {
    let reply: PolicyReply & { readonly printed?: unknown };
    try {
      reply = JSON.parse(line) as PolicyReply;
    } catch {
      this.end({ kind: 'ended', message: 'its process wrote what is no reply' });
      return;
    }
    if (typeof reply.printed === 'string') this.listener.onPrinted(reply.printed);
    else if (reply.id === 0) this.onLoaded(reply);
    else {
      const ask = this.asks.get(reply.id);
      if (ask === undefined) return;
      this.asks.delete(reply.id);
      this.answers += 1;
      if (this.answers === PROVEN_ANSWERS) this.leaveStart?.();
      ask.done?.(reply, line.length);
    }
  }

  private onLoaded({ fault }: PolicyReply): void {
    if (fault !== undefined) {
      this.end({ kind: 'unloadable', message: fault.message });
      return;
    }
    this.isUp = true;
    this.upMs = performance.now();
    if (this.restarts === 0) this.leaveStart?.();
    this.listener.onUp();
  }

  private watch(): void {
    const nowMs = performance.now();
    const isAsleep = nowMs - this.lookedMs > 4 * LOOK_EVERY_MS;
    this.lookedMs = nowMs;
    // The server itself stood still: what was answered meanwhile is not read yet.
    if (isAsleep || this.child === undefined) return;
    if (!this.isUp) {
      if (nowMs - this.startedMs > LOAD_MS)
        this.end({ kind: 'stuck', message: `it was not loaded within ${LOAD_MS / 1000} s` });
      return;
    }
    const [first] = this.asks.values();
    // One that nobody asks may spin all the same.
    if (first === undefined) {
      if (nowMs - Math.max(this.upMs, this.askedMs) > UNASKED_MS) this.leaveStart?.();
      if (nowMs - this.askedMs > STUCK_MS) this.ask({ op: 'ping' }, () => undefined);
      return;
    }
    if (nowMs - first.sentMs <= STUCK_MS) return;
    // Requests are answered in order, so that it is this one.
    this.end({
      kind: 'stuck',
      message: `${first.op === 'ping' ? 'it' : first.op} did not return within ${STUCK_MS / 1000} s`,
    });
  }

  private end(fault: PolicyFault): void {
    this.child?.close();
    this.onEnd(fault);
  }

  private onEnd(fault: PolicyFault): void {
    if (this.isClosed) return;
    this.child = undefined;
    this.leaveStart?.();
    const nowMs = performance.now();
    if (this.isUp && nowMs - this.upMs > LIVED_MS) this.pauseMs = SHORTEST_PAUSE_MS;
    this.isUp = false;
    this.listener.onFault(fault);
    const [first] = this.asks.values();
    this.listener.onDown(first);
    this.giveUp();
    this.restart = setTimeout(() => {
      this.restarts += 1;
      this.start();
    }, this.pauseMs);
    this.restart.unref();
    this.pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * this.pauseMs);
  }

  private giveUp(): void {
    const given = [...this.asks.values()];
    this.asks.clear();
    for (const { done } of given) done?.(undefined, 0);
  }
}

function giveWay(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, GIVES_WAY_NICENESS);
  } catch {
    // It is gone, or the system does not let us.
  }
}
