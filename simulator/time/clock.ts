/**
 * Time as the product sees it: simulated nanoseconds since the clock's start, a JS number. Everything on the query path
 * and in the simulator takes a Clock; the same code then runs against the wall (PacedClock) and in virtual time
 * (VirtualClock).
 */
export interface Clock {
  /** Now, in nanoseconds since the clock's start. Inside an event's handler: that event's own time. */
  nowNs(): number;

  /**
   * By how much the event that runs now runs late: 0 in virtual time. After a pause of the process it says how much of
   * the time since an earlier event nobody had.
   */
  behindNs(): number;

  /**
   * Gives a component its name in the event heap. Events hold the name and not the object, so that a heap can be
   * snapshotted and restored into a fork that attached its own components under the same names.
   * @throws ClockError when the name is taken.
   */
  attach(port: string, sink: EventSink): void;

  /** Removes a component and drops its pending events. */
  detach(port: string): void;

  /**
   * Schedules one event. A time in the past runs next, at the present time. Equal times run in order of scheduling.
   * @returns the event's order number, the handle for `cancel`.
   */
  schedule(port: string, timeNs: number, kind: string, payload?: EventPayload): number;

  /**
   * Moves to a time at which the event that runs now has more to do, as if an event of its own had been scheduled for
   * it and were the next one. False, and nothing done, when another event comes first or at the same time, or when time
   * may not go so far yet: then it is to be scheduled.
   */
  skipTo(timeNs: number): boolean;

  /** Until when `skipTo` would move: true of every time before. Nothing may be scheduled meanwhile. */
  quietUntilNs(): number;

  /** Drops a pending event. False when it already ran or was cancelled. */
  cancel(order: number): boolean;
}

/** Plain data only: what a structured clone keeps, and no functions. */
export type EventPayload = undefined | null | boolean | number | string | object;

export interface EventRecord {
  readonly timeNs: number;
  readonly order: number;
  readonly port: string;
  readonly kind: string;
  readonly payload: EventPayload;
}

export interface EventSink {
  onEvent(kind: string, payload: EventPayload, nowNs: number): void;
}

export class ClockError extends Error {
  override readonly name = 'ClockError';
}
