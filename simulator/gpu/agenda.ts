import type { Clock, EventSink } from '../time/index.js';
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

/** Pending entries in the order in which they were made; plain data. */
export type AgendaSnapshot = readonly Entry[];

/**
 * The pending events of one node behind one port of the clock. It remembers what is pending, which a Clock does not
 * tell, so that a node can be copied onto another clock with equal-time events still in their old order.
 */
export class Agenda implements EventSink {
  private readonly targets = new Map<string, AgendaTarget>();
  private readonly entries = new Map<number, { entry: Entry; order: number }>();
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
    return this.place({ sequence: this.nextSequence, timeNs, target, kind, payload });
  }

  cancel(sequence: number): void {
    const held = this.entries.get(sequence);
    if (held === undefined) return;
    this.entries.delete(sequence);
    this.clock.cancel(held.order);
  }

  /** Tells a target at once, as if an entry of this very moment had come due. */
  deliver(target: string, kind: string, payload: number): void {
    this.targets.get(target)?.onDue(kind, payload, this.clock.nowNs());
  }

  onEvent(_kind: string, payload: unknown): void {
    const sequence = payload as number;
    const held = this.entries.get(sequence);
    if (held === undefined) return;
    this.entries.delete(sequence);
    this.targets.get(held.entry.target)?.onDue(held.entry.kind, held.entry.payload, this.clock.nowNs());
  }

  snapshot(): AgendaSnapshot {
    return [...this.entries.values()].map((held) => held.entry).sort((a, b) => a.sequence - b.sequence);
  }

  /** Takes over a snapshot's entries with their sequence numbers, so that handles kept elsewhere stay good. */
  restore(snapshot: AgendaSnapshot, nextSequence: number): void {
    if (this.entries.size > 0) throw new GpuError('snapshotMismatch', 'the agenda has entries already');
    for (const entry of snapshot) this.place(entry);
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

  private place(entry: Entry): number {
    const order = this.clock.schedule(this.port, entry.timeNs, entry.kind, entry.sequence);
    this.entries.set(entry.sequence, { entry, order });
    this.nextSequence = Math.max(this.nextSequence, entry.sequence + 1);
    return entry.sequence;
  }
}
