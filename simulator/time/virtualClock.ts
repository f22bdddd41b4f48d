import { ClockError, type Clock, type EventPayload, type EventRecord, type EventSink } from './clock.js';
import { EventHeap } from './eventHeap.js';

/** What a clock holds at one moment: enough to go on elsewhere, in the same order. */
export interface ClockSnapshot {
  readonly nowNs: number;
  readonly nextOrder: number;
  readonly events: readonly EventRecord[];
}

/** Discrete-event time: jumps from event to event, and repeats bit for bit. */
export class VirtualClock implements Clock {
  private readonly heap = new EventHeap();
  private readonly sinks = new Map<string, EventSink>();
  private currentNs: number;
  private nextOrder = 0;
  /** How far the run that is under way may take time; -Infinity when no event runs. */
  private horizonNs = -Infinity;

  constructor(startNs = 0) {
    this.currentNs = startNs;
  }

  nowNs(): number {
    return this.currentNs;
  }

  behindNs(): number {
    return 0;
  }

  attach(port: string, sink: EventSink): void {
    if (this.sinks.has(port)) throw new ClockError(`port '${port}' is attached already`);
    this.sinks.set(port, sink);
  }

  detach(port: string): void {
    this.sinks.delete(port);
    this.heap.dropWhere((record) => record.port === port);
  }

  schedule(port: string, timeNs: number, kind: string, payload?: EventPayload): number {
    if (!this.sinks.has(port)) throw new ClockError(`port '${port}' is not attached`);
    if (!Number.isFinite(timeNs))
      throw new ClockError(`event '${kind}' of '${port}' has no finite time: ${timeNs}`);
    const order = this.nextOrder++;
    this.heap.push({ timeNs: Math.max(timeNs, this.currentNs), order, port, kind, payload });
    return order;
  }

  skipTo(timeNs: number): boolean {
    if (!(timeNs <= this.horizonNs)) return false;
    const next = this.heap.peek();
    if (next !== undefined && next.timeNs <= timeNs) return false;
    if (timeNs > this.currentNs) this.currentNs = timeNs;
    return true;
  }

  quietUntilNs(): number {
    return Math.min(this.horizonNs, this.heap.peek()?.timeNs ?? Infinity);
  }

  cancel(order: number): boolean {
    return this.heap.cancel(order);
  }

  /** Time of the next pending event, or undefined when nothing is pending. */
  nextEventNs(): number | undefined {
    return this.heap.peek()?.timeNs;
  }

  /**
   * Runs one event; false when none is pending. @param horizonNs how far the event may skip (see `skipTo`); by default as
   * far as it likes
   */
  step(horizonNs = Infinity): boolean {
    const record = this.heap.pop();
    if (record === undefined) return false;
    this.currentNs = record.timeNs;
    this.horizonNs = horizonNs;
    try {
      this.sinks.get(record.port)?.onEvent(record.kind, record.payload, record.timeNs);
    } finally {
      this.horizonNs = -Infinity;
    }
    return true;
  }

  /** Runs every event up to and including `untilNs` and leaves the clock there; without it, until none is pending. */
  run(untilNs = Infinity): void {
    for (;;) {
      const next = this.heap.peek();
      if (next === undefined || next.timeNs > untilNs) break;
      this.step(untilNs);
    }
    if (untilNs !== Infinity) this.advanceTo(untilNs);
  }

  /** Moves time forward with no event; never past a pending event, never back. */
  advanceTo(timeNs: number): void {
    const next = this.heap.peek();
    const bound = next === undefined ? timeNs : Math.min(timeNs, next.timeNs);
    if (bound > this.currentNs) this.currentNs = bound;
  }

  /** Pending events of the ports that `include` accepts (all of them by default), with the present time. */
  snapshot(include: (port: string) => boolean = () => true): ClockSnapshot {
    return {
      nowNs: this.currentNs,
      nextOrder: this.nextOrder,
      events: structuredClone(this.heap.pending().filter((record) => include(record.port))),
    };
  }

  /**
   * Takes over a snapshot's time, order numbers and events. The components must be attached first.
   * @throws ClockError when this clock already has events or a port is missing.
   */
  restore(snapshot: ClockSnapshot): void {
    if (this.heap.size > 0)
      throw new ClockError('a snapshot can only be restored into a clock with no events');
    for (const record of snapshot.events) {
      if (!this.sinks.has(record.port)) throw new ClockError(`port '${record.port}' is not attached`);
    }
    this.currentNs = snapshot.nowNs;
    this.nextOrder = snapshot.nextOrder;
    for (const record of structuredClone(snapshot.events)) this.heap.push(record);
  }
}
