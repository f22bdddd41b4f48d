import type { CompletionSink } from './commands.js';

interface Named {
  readonly name: string;
  /** Commands in flight. */
  uses: number;
  readonly kept: boolean;
}

/**
 * Completion sinks by name. Commands in flight hold the name, so that they survive a snapshot; the copy's owner
 * attaches its own sinks under the same names. Sinks that nobody named get a name while they have commands in flight
 * and are lost on a copy.
 */
export class SinkTable {
  private readonly byName = new Map<string, CompletionSink>();
  private readonly names = new WeakMap<CompletionSink, Named>();
  private nextAnonymous = 1;

  attach(name: string, sink: CompletionSink): void {
    this.byName.set(name, sink);
    this.names.set(sink, { name, uses: 0, kept: true });
  }

  detach(name: string): void {
    const sink = this.byName.get(name);
    this.byName.delete(name);
    if (sink !== undefined) this.names.delete(sink);
  }

  /** The sink's name, with one more command in flight. */
  hold(sink: CompletionSink): string {
    let held = this.names.get(sink);
    if (held === undefined) {
      held = { name: `anonymous${this.nextAnonymous++}`, uses: 0, kept: false };
      this.names.set(sink, held);
    }
    if (held.uses === 0 && !held.kept) this.byName.set(held.name, sink);
    held.uses += 1;
    return held.name;
  }

  find(name: string): CompletionSink | undefined {
    return this.byName.get(name);
  }

  /** One command fewer in flight. */
  release(name: string): void {
    const sink = this.byName.get(name);
    const held = sink === undefined ? undefined : this.names.get(sink);
    if (sink === undefined || held === undefined) return;
    held.uses -= 1;
    if (held.uses === 0 && !held.kept) this.byName.delete(name);
  }
}
