import type { CompletionSink } from './commands.js';

interface Named {
  readonly name: string;
  readonly sink: CompletionSink;
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
  private readonly byName = new Map<string, Named>();
  private readonly names = new WeakMap<CompletionSink, Named>();
  /** Whoever submitted last mostly submits more. */
  private latest: Named | undefined;
  private nextAnonymous = 1;

  attach(name: string, sink: CompletionSink): void {
    const named = { name, sink, uses: 0, kept: true };
    this.byName.set(name, named);
    this.names.set(sink, named);
    this.latest = undefined;
  }

  detach(name: string): void {
    const named = this.byName.get(name);
    this.byName.delete(name);
    if (named !== undefined) this.names.delete(named.sink);
    this.latest = undefined;
  }

  /** The sink's name, with one more command in flight. */
  hold(sink: CompletionSink): string {
    const { latest } = this;
    const held = latest?.sink === sink ? latest : this.namedAs(sink);
    if (held.uses === 0 && !held.kept) this.byName.set(held.name, held);
    held.uses += 1;
    this.latest = held;
    return held.name;
  }

  find(name: string): CompletionSink | undefined {
    return this.byName.get(name)?.sink;
  }

  /** One command fewer in flight. */
  release(name: string): void {
    const held = this.byName.get(name);
    if (held === undefined) return;
    held.uses -= 1;
    if (held.uses === 0 && !held.kept) this.byName.delete(name);
  }

  private namedAs(sink: CompletionSink): Named {
    let held = this.names.get(sink);
    if (held === undefined) {
      held = { name: `anonymous${this.nextAnonymous++}`, sink, uses: 0, kept: false };
      this.names.set(sink, held);
    }
    return held;
  }
}
