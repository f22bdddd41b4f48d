import type { Arrival, Trace } from '../trace/index.js';
import type { Alarm } from './alarm.js';
import type { LoadTraffic } from './loadTraffic.js';
import type { LoadQuery, Prepared, Sender } from './senders/index.js';
import { wallNs } from './wallClock.js';

export interface OpenLoopOptions {
  readonly alarm: Alarm;
  readonly trace: Trace;
  readonly sender: Sender;
  readonly traffic: LoadTraffic;
  /** By `wallNs`. */
  readonly startNs: number;
  /** Later arrivals are left out; since the start. */
  readonly untilNs: number;
  /** Which of the arrivals are this process's: those of number `part`, `part + parts`, … */
  readonly part: number;
  readonly parts: number;
  /** Ends it early. */
  readonly signal: AbortSignal;
}

/** Between two looks at what has been answered. */
const SENT_AT_ONCE = 32;

interface Due {
  readonly atNs: number;
  readonly query: LoadQuery;
  readonly send: Prepared;
}

/**
 * Sends each query when its trace says so, whatever became of those before: latency counts from that moment, so that a server that
 * is slow keeps no query from being counted as late (coordinated omission).
 * @throws LoadError of the trace or of an input, as a rejection
 */
export async function openLoop(options: OpenLoopOptions): Promise<void> {
  const { alarm, traffic, startNs, signal } = options;
  const coming = new ComingQueries(options);
  let due = coming.next();
  if (due === undefined) return;
  await new Promise<void>((resolve, reject) => {
    alarm.onRing = onRing;
    alarm.onFailure = end;
    signal.addEventListener('abort', () => end(), { once: true });
    let isOver = false;
    if (signal.aborted) end();
    else wait();

    function wait(): void {
      if (due === undefined) end();
      else alarm.set(startNs + due.atNs);
    }

    function onRing(): void {
      if (isOver) return;
      try {
        for (let sent = 0; due !== undefined && sent < SENT_AT_ONCE; sent++) {
          const intendedNs = startNs + due.atNs;
          const nowNs = wallNs();
          if (intendedNs > nowNs) break;
          const { query, send } = due;
          traffic.counts.lateness.record(nowNs - intendedNs);
          traffic.onSent(query, intendedNs);
          send((outcome) => traffic.onOutcome(query, intendedNs, outcome));
          due = coming.next();
        }
      } catch (error) {
        end(error instanceof Error ? error : new Error('the trace cannot be read on', { cause: error }));
        return;
      }
      wait();
    }

    function end(error?: Error): void {
      if (isOver) return;
      isOver = true;
      if (error === undefined) resolve();
      else reject(error);
    }
  });
}

/** A process's part of the trace. */
class ComingQueries {
  private number = -1;

  constructor(private readonly options: OpenLoopOptions) {}

  next(): Due | undefined {
    const { trace, traffic, sender, untilNs, part, parts } = this.options;
    for (;;) {
      const arrival: Arrival | undefined = trace.next();
      if (arrival === undefined || !(arrival.atNs < untilNs)) return undefined;
      this.number += 1;
      if (this.number % parts !== part) continue;
      const query = traffic.queryOf(arrival, this.number);
      return { atNs: arrival.atNs, query, send: sender.prepare(query) };
    }
  }
}
