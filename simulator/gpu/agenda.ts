import { NumberTable, type Clock, type EventSink } from '../time/index.js';
import { GpuError } from './gpuError.js';

/** Where an agenda's entries go: a part of a node, known by its name, so that entries survive a fork. */
export interface AgendaTarget {
  onDue(kind: string, payload: number, nowNs: number): void;
}

interface Entry {
  readonly sequence: number;
  readonly timeNs: number;
  readonly target: string;
  readonly kind: string;
  readonly payload: number;
}

/** An entry, and the clock's order number of its event. */
interface Pending extends Entry {
  readonly order: number;
}

/** Pending entries in the order in which they were made; plain data. */
export type AgendaSnapshot = readonly Entry[];

/**
 * The pending events of one node behind one port of the clock. It remembers what is pending, which a Clock does not
 * tell, so that a node can be copied onto another clock with equal-time events still in their old order.
 */
export class Agenda implements EventSink {
  private readonly targets = new Map<string, AgendaTarget>();
  private readonly entries = new NumberTable<Pending>();
  private nextSequence = 0;

  constructor(
    private readonly clock: Clock,
    private readonly port: string,
  ) {
    clock.attach(port, this);
  }

  nowNs(): number {
    return this.clock.nowNs();
  }

  attach(name: string, target: AgendaTarget): void {
    this.targets.set(name, target);
  }

  /** Schedules an entry; its payload is a number, usually an identity in the target's own state. */
  schedule(target: string, timeNs: number, kind: string, payload = 0): number {
    return this.place(this.nextSequence, timeNs, target, kind, payload);
  }

  /**
   * Moves time to the next entry of the target that is being told of one, where nothing else is due before: see `skipTo` of
   * the clock. It counts as an entry that was scheduled and has come due. False: schedule it.
   * @param entries it counts as so many, where the target went through others on the way
   */
  skipTo(timeNs: number, entries = 1): boolean {
    if (!this.clock.skipTo(timeNs)) return false;
    this.nextSequence += entries;
    return true;
  }

  /** Before this time `skipTo` moves, as long as nobody is told of anything. */
  quietUntilNs(): number {
    return this.clock.quietUntilNs();
  }

  cancel(sequence: number): void {
    const held = this.entries.delete(sequence);
    if (held !== undefined) this.clock.cancel(held.order);
  }

  /** Tells a target at once, as if an entry of this very moment had come due. */
  deliver(target: string, kind: string, payload: number): void {
    this.targets.get(target)?.onDue(kind, payload, this.clock.nowNs());
  }

  onEvent(_kind: string, payload: unknown, nowNs: number): void {
    const held = this.entries.delete(payload as number);
    if (held !== undefined) this.targets.get(held.target)?.onDue(held.kind, held.payload, nowNs);
  }

  snapshot(): AgendaSnapshot {
    return this.entries
      .list()
      .map(({ sequence, timeNs, target, kind, payload }) => ({ sequence, timeNs, target, kind, payload }))
      .sort((a, b) => a.sequence - b.sequence);
  }

  /** Takes over a snapshot's entries with their sequence numbers, so that handles kept elsewhere stay good. */
  restore(snapshot: AgendaSnapshot, nextSequence: number): void {
    if (this.entries.size > 0) throw new GpuError('snapshotMismatch', 'the agenda has entries already');
    for (const { sequence, timeNs, target, kind, payload } of snapshot)
      this.place(sequence, timeNs, target, kind, payload);
    this.nextSequence = nextSequence;
  }

  get sequence(): number {
    return this.nextSequence;
  }

  /** Drops every pending entry and leaves the clock. */
  close(): void {
    this.entries.clear();
    this.clock.detach(this.port);
  }

  private place(sequence: number, timeNs: number, target: string, kind: string, payload: number): number {
    const order = this.clock.schedule(this.port, timeNs, kind, sequence);
    this.entries.set(sequence, { sequence, timeNs, target, kind, payload, order });
    if (sequence >= this.nextSequence) this.nextSequence = sequence + 1;
    return sequence;
  }
}
