import type { NodeMemory } from '../executor/index.js';
import type { Agenda, DeviceProfile } from '../gpu/index.js';
import type { DriverFailure, DriverResult } from './commands.js';
import type { ContextTable } from './contextTable.js';
import { CopyMeter, type CopyUsage } from './copyMeter.js';
import { copyPlan, performCopy, type CopyCommand, type CopyPlan } from './copyTraffic.js';
import type { DriverObserver } from './driverObserver.js';
import type { ContextState, DriverState, PendingCommand } from './driverState.js';
import { recoveryMove } from './recoveryMove.js';
import { failureOf } from './refusal.js';
import { HOST_CPU_LINK, type SharedLinks } from './sharedLinks.js';

export interface QueuedCopy {
  readonly pending: PendingCommand;
  readonly command: CopyCommand;
  readonly context: ContextState;
}

/** Where copies take place: `name` is told `copyLatency`, `copied` and `unstaged`. */
export interface CopySurroundings {
  readonly name: string;
  readonly agenda: Agenda;
  readonly links: SharedLinks;
  readonly profiles: readonly DeviceProfile[];
  readonly memory: NodeMemory;
}

/**
 * A node's copy engines: each serves one copy at a time, in order of arrival, and the bytes of all share the links. Memory of launches
 * that is saved at the host goes the same way.
 */
export class CopyEngines {
  observer: DriverObserver | undefined;
  private readonly meter = new CopyMeter();

  constructor(
    private readonly around: CopySurroundings,
    private readonly state: DriverState,
    private readonly contexts: ContextTable,
    private readonly onEnd: (
      copy: QueuedCopy,
      result: DriverResult | undefined,
      failure: DriverFailure | undefined,
    ) => void,
    /** A launch's memory has come to the host, or back. */
    private readonly onMoved: (pending: PendingCommand, context: ContextState) => void,
  ) {}

  queue(copy: QueuedCopy): void {
    const { engine } = this.planOf(copy);
    let queue = this.state.engines.get(engine);
    if (queue === undefined) this.state.engines.set(engine, (queue = { queue: [] }));
    queue.queue.push(copy.pending.sequence);
    if (queue.running === undefined) this.next(engine);
  }

  usage(gpu: number): CopyUsage {
    return this.meter.usage(gpu);
  }

  /** The fixed latency of a copy is over: its bytes begin to flow. */
  onLatencyOver(sequence: number): void {
    const copy = this.find(sequence);
    if (copy === undefined) {
      this.release(sequence);
      return;
    }
    const { bytes, uses, mostPerNs } = this.planOf(copy);
    this.around.links.start({
      amount: bytes,
      uses,
      mostPerNs,
      target: this.around.name,
      kind: 'copied',
      payload: sequence,
    });
  }

  onCopied(sequence: number): void {
    this.release(sequence);
    const copy = this.find(sequence);
    if (copy === undefined) return;
    const { unstageNs } = this.planOf(copy);
    if (unstageNs === undefined) {
      this.finish(copy);
      return;
    }
    this.around.links.start({
      amount: unstageNs,
      uses: [{ link: HOST_CPU_LINK, weight: 1 }],
      mostPerNs: 1,
      target: this.around.name,
      kind: 'unstaged',
      payload: sequence,
    });
  }

  onUnstaged(sequence: number): void {
    const copy = this.find(sequence);
    if (copy !== undefined) this.finish(copy);
  }

  /** All of its time is over: moves the bytes. Of a copy that SMs did, too. */
  finish(copy: QueuedCopy): void {
    const { pending, command, context } = copy;
    if (pending.command.op === 'launch') {
      this.meter.add(command, context.gpu, context.gpu, this.around.profiles[context.gpu]);
      this.onMoved(pending, context);
      return;
    }
    let result: DriverResult | undefined;
    let failure: DriverFailure | undefined;
    try {
      result = performCopy(
        command,
        this.contexts.space(context),
        this.contexts.peerSpace(command),
        this.around.memory.isDeclaredOnly,
      );
      this.meter.add(command, context.gpu, this.peerGpu(copy), this.around.profiles[context.gpu]);
    } catch (error) {
      failure = failureOf(error);
    }
    this.onEnd(copy, result, failure);
  }

  private next(engine: string): void {
    const queue = this.state.engines.get(engine);
    if (queue === undefined) return;
    const sequence = queue.queue.shift();
    if (sequence === undefined) {
      this.state.engines.delete(engine);
      return;
    }
    const copy = this.find(sequence);
    if (copy === undefined) {
      this.next(engine);
      return;
    }
    queue.running = sequence;
    this.observer?.onCopyStarted(engine, { ...copy.pending, command: copy.command }, copy.context);
    const { agenda, name } = this.around;
    agenda.schedule(name, agenda.nowNs() + this.planOf(copy).latencyNs, 'copyLatency', sequence);
  }

  private release(sequence: number): void {
    for (const [name, engine] of this.state.engines) {
      if (engine.running !== sequence) continue;
      delete engine.running;
      this.observer?.onCopyEnded(name, sequence);
      this.next(name);
      return;
    }
  }

  /** The copy behind a sequence, unless its context has died meanwhile. */
  private find(sequence: number): QueuedCopy | undefined {
    const pending = this.state.pending.get(sequence);
    const context = pending === undefined ? undefined : this.contexts.find(pending.context);
    if (pending === undefined || context === undefined) return undefined;
    const command = recoveryMove(pending) ?? (pending.command as CopyCommand);
    return { pending, command, context };
  }

  private planOf(copy: QueuedCopy): CopyPlan {
    const { command, context } = copy;
    return copyPlan(command, context.gpu, this.peerGpu(copy), this.around.profiles[context.gpu]);
  }

  private peerGpu({ command, context }: QueuedCopy): number {
    const peer =
      command.op === 'memcpyPeer' ? this.contexts.find(command.args.destinationContext) : undefined;
    return peer?.gpu ?? context.gpu;
  }
}
