import type { ExecutorLaunch, NodeMemory } from '../executor/index.js';
import type {
  Agenda,
  AgendaTarget,
  BlockReport,
  DeviceProfile,
  GpuDevice,
  LaunchRecord,
} from '../gpu/index.js';
import type {
  CommandSink,
  CompletionSink,
  DriverCommand,
  DriverFailure,
  DriverResult,
  Interposer,
} from './commands.js';
import { ContextTable, contextFaulted, requireAlive } from './contextTable.js';
import { CopyEngines } from './copyEngines.js';
import type { CopyUsage } from './copyMeter.js';
import { checkCopy } from './copyTraffic.js';
import type { DriverObserver } from './driverObserver.js';
import {
  emptyDriver,
  type ContextState,
  type DriverState,
  type PendingCommand,
  type StreamState,
} from './driverState.js';
import { HostThreads } from './hostThreads.js';
import { entryNamed, launchRequest } from './launchCheck.js';
import type { ModuleLibrary } from './moduleLibrary.js';
import { Refusal, failureOf } from './refusal.js';
import type { SharedLinks } from './sharedLinks.js';
import type { SinkTable } from './sinkTable.js';

export interface DriverParts {
  readonly name: string;
  readonly agenda: Agenda;
  readonly links: SharedLinks;
  readonly memory: NodeMemory;
  readonly modules: ModuleLibrary;
  readonly profiles: readonly DeviceProfile[];
  readonly devices: readonly GpuDevice[];
  readonly sinks: SinkTable;
}

/**
 * The driver of one node: takes commands, charges their submission to the host's CPU, keeps streams in order, and runs
 * commands on devices and copy engines. Every command gets exactly one completion, in an event of its own after
 * `submit` has returned.
 *
 * Stream 0 is a stream like the others: it waits for none and none waits for it. `free` and `contextDestroy` wait for
 * everything that their context submitted before them.
 */
export class Driver implements CommandSink, AgendaTarget {
  private readonly contexts: ContextTable;
  private readonly hostThreads: HostThreads;
  private readonly copies: CopyEngines;
  private readonly interposers: Interposer[] = [];
  private readonly stages: CommandSink[] = [];
  private observer: DriverObserver | undefined;

  constructor(
    private readonly parts: DriverParts,
    readonly state: DriverState = emptyDriver(parts.devices.length),
  ) {
    this.contexts = new ContextTable(state, parts.memory, parts.profiles, parts.modules);
    this.hostThreads = new HostThreads(parts.name, parts.agenda, parts.links, state, (pending) =>
      this.profileOf(pending),
    );
    this.copies = new CopyEngines(parts, state, this.contexts, ({ pending, context }, result, failure) =>
      this.endOnStream(pending, context, result, failure),
    );
    this.stages.push({ submit: (command, sink) => this.accept(command, sink) });
    parts.agenda.attach(parts.name, this);
  }

  /** Puts an interposer in front of the others: it sees commands first. */
  interpose(interposer: Interposer): void {
    const next = this.stages[this.stages.length - 1];
    this.interposers.push(interposer);
    this.stages.push({ submit: (command, sink) => interposer.onCommand(command, next, sink) });
  }

  /** One observer at a time; undefined: none. */
  observe(observer: DriverObserver | undefined): void {
    this.observer = observer;
    this.copies.observer = observer;
  }

  /** What copies of a GPU have moved since the driver was made. */
  copyUsage(gpu: number): CopyUsage {
    return this.copies.usage(gpu);
  }

  submit(command: DriverCommand, sink: CompletionSink): void {
    this.stages[this.stages.length - 1].submit(command, sink);
  }

  onDue(kind: string, payload: number): void {
    switch (kind) {
      case 'submitted':
        this.hostThreads.onSubmitted(payload);
        return;
      case 'arrived':
        this.onArrived(payload);
        return;
      case 'copyLatency':
        this.copies.onLatencyOver(payload);
        return;
      case 'copied':
        this.copies.onCopied(payload);
        return;
      default:
        throw new Error(`the driver knows no event '${kind}'`);
    }
  }

  private accept(command: DriverCommand, sink: CompletionSink): void {
    const { state } = this;
    const sequence = state.nextSequence++;
    const context = command.op === 'contextCreate' ? 0 : command.context;
    state.pending.set(sequence, {
      sequence,
      command,
      sink: this.parts.sinks.hold(sink),
      context,
      phase: 'submitting',
    });
    this.contexts.find(context)?.inFlight.add(sequence);
    this.hostThreads.submit(context, sequence);
  }

  // --- arrival: control commands act at once, the others join their stream ---

  private onArrived(sequence: number): void {
    const pending = this.state.pending.get(sequence);
    if (pending === undefined) return;
    try {
      this.arrive(pending);
    } catch (error) {
      this.complete(pending, undefined, failureOf(error));
    }
  }

  private arrive(pending: PendingCommand): void {
    const { command } = pending;
    if (command.op === 'contextCreate') {
      this.complete(pending, { handle: this.contexts.create(command.args.gpu).id });
      return;
    }
    const context = this.contexts.require(command.context);
    if (command.op === 'contextDestroy') {
      this.waitForEarlier(pending, context);
      return;
    }
    requireAlive(context);
    switch (command.op) {
      case 'streamCreate':
        this.complete(pending, { handle: this.contexts.createStream(context, command.args.priority).id });
        return;
      case 'streamDestroy':
        this.contexts.destroyStream(context, command.stream);
        this.complete(pending, {});
        return;
      case 'moduleLoad': {
        const handle = this.contexts.loadModule(context, command.args.ptx, command.args.file);
        this.complete(pending, { handle, symbols: this.contexts.symbols(context, handle) });
        return;
      }
      case 'malloc':
        this.complete(pending, { address: this.contexts.allocate(context, command.args.bytes) });
        return;
      case 'free':
        this.contexts.requireAllocation(context, command.args.address);
        this.waitForEarlier(pending, context);
        return;
      case 'eventRecord': {
        const event = this.contexts.event(context, command.args.event);
        event.submitted += 1;
        break;
      }
      case 'eventWait':
        pending.awaitedRecord = this.contexts.event(context, command.args.event).submitted;
        break;
      case 'launch':
        this.checkedLaunch(command, context, 0);
        break;
      case 'memcpyHostToDevice':
      case 'memcpyDeviceToHost':
      case 'memcpyDeviceToDevice':
      case 'memcpyPeer':
      case 'memset':
        checkCopy(command, this.contexts.space(context), this.contexts.peerSpace(command));
        break;
      case 'streamSynchronize':
        break;
    }
    const stream = this.contexts.requireStream(context, command.stream);
    pending.phase = 'queued';
    stream.queue.push(pending.sequence);
    this.observer?.onQueued(pending, context);
    if (stream.queue.length === 1) this.pump(context, stream);
  }

  private waitForEarlier(pending: PendingCommand, context: ContextState): void {
    pending.phase = 'waiting';
    context.barriers.push(pending.sequence);
    this.passBarriers(context);
  }

  /** Frees and destroys act once nothing of their context that came before them is in flight. */
  private passBarriers(context: ContextState): void {
    while (context.barriers.length > 0) {
      const sequence = context.barriers[0];
      for (const other of context.inFlight) if (other < sequence) return;
      const pending = this.state.pending.get(sequence);
      context.barriers.shift();
      if (pending === undefined) continue;
      const { command } = pending;
      try {
        if (command.op === 'free') {
          requireAlive(context);
          this.contexts.free(context, command.args.address);
          this.parts.devices[context.gpu].forget(context.id, command.args.address);
        } else this.contexts.destroy(context);
        this.complete(pending, {});
      } catch (error) {
        this.complete(pending, undefined, failureOf(error));
      }
    }
  }

  // --- streams: the oldest command runs, the others wait ---

  private pump(context: ContextState, stream: StreamState): void {
    for (;;) {
      const pending = this.state.pending.get(stream.queue[0] ?? -1);
      if (pending === undefined || pending.phase !== 'queued') return;
      try {
        if (!this.start(pending, context, stream)) return;
        this.leaveStream(stream, pending);
        this.complete(pending, {});
      } catch (error) {
        this.leaveStream(stream, pending);
        this.complete(pending, undefined, failureOf(error));
      }
    }
  }

  /** @returns whether the command is done already. */
  private start(pending: PendingCommand, context: ContextState, stream: StreamState): boolean {
    const { command } = pending;
    requireAlive(context);
    this.observer?.onStarted(pending, context);
    switch (command.op) {
      case 'eventRecord': {
        const event = this.contexts.event(context, command.args.event);
        event.completed += 1;
        this.wakeWaiters(context, stream);
        return true;
      }
      case 'eventWait':
        return this.contexts.event(context, command.args.event).completed >= (pending.awaitedRecord ?? 0);
      case 'launch': {
        const profile = this.parts.profiles[context.gpu];
        const { launchOverheadNs, launchOverlapNs } = profile.timing;
        const behind = stream.lastOp === 'launch' && stream.lastEndNs === this.parts.agenda.nowNs();
        const request = this.checkedLaunch(
          command,
          context,
          behind ? launchOverheadNs - launchOverlapNs : launchOverheadNs,
        );
        pending.phase = 'running';
        pending.launch = this.parts.devices[context.gpu].launch(
          request.cooperative === true
            ? { ...request, gridWorkspace: this.contexts.mapGridWorkspace(context) }
            : request,
        );
        this.state.launches.set(`${context.gpu}:${pending.launch}`, pending.sequence);
        return false;
      }
      case 'memcpyHostToDevice':
      case 'memcpyDeviceToHost':
      case 'memcpyDeviceToDevice':
      case 'memcpyPeer':
      case 'memset':
        pending.phase = 'running';
        this.copies.queue({ pending, command, context });
        return false;
      case 'streamSynchronize':
        return true;
      case 'contextCreate':
      case 'contextDestroy':
      case 'free':
      case 'malloc':
      case 'moduleLoad':
      case 'streamCreate':
      case 'streamDestroy':
        throw new Error(`'${command.op}' never joins a stream`);
    }
  }

  private checkedLaunch(
    command: Extract<DriverCommand, { op: 'launch' }>,
    context: ContextState,
    leadNs: number,
  ): ReturnType<typeof launchRequest> {
    const stream = this.contexts.requireStream(context, command.stream);
    const module = this.contexts.requireModule(context, command.args.module);
    return launchRequest(command, module, this.parts.profiles[context.gpu], leadNs, stream.priority);
  }

  /** Streams whose oldest command waits for an event may go on. */
  private wakeWaiters(context: ContextState, except: StreamState): void {
    for (const stream of context.streams.values()) {
      if (stream !== except) this.pump(context, stream);
    }
  }

  private leaveStream(stream: StreamState, pending: PendingCommand): void {
    if (stream.queue[0] === pending.sequence) stream.queue.shift();
    stream.lastOp = pending.command.op;
    stream.lastEndNs = this.parts.agenda.nowNs();
  }

  // --- launches: what a device asks back, and their ends ---

  /** A launch on a device, with its handles resolved again. */
  executorLaunch(record: LaunchRecord): ExecutorLaunch {
    const module = this.contexts.requireModule(this.contexts.require(record.context), record.module);
    const kernel = entryNamed(module, record.kernel);
    if (kernel === undefined)
      throw new Refusal('notFound', `kernel: no entry '${record.kernel}' in ${module.ir.file}`);
    const { shape, params, cooperative, gridWorkspace } = record;
    return { module, kernel, shape, params, cooperative, gridWorkspace };
  }

  moduleIdentity(record: LaunchRecord): string {
    return this.contexts.require(record.context).modules.get(record.module)?.identity ?? '';
  }

  /** A device's launch has ended, well or by a fault. */
  onLaunchEnd(gpu: number, record: LaunchRecord): void {
    const key = `${gpu}:${record.id}`;
    const pending = this.state.pending.get(this.state.launches.get(key) ?? -1);
    this.state.launches.delete(key);
    const context = this.contexts.find(record.context);
    if (pending === undefined || context === undefined) return;
    if (record.gridWorkspace !== undefined) this.contexts.unmapGridWorkspace(context, record.gridWorkspace);
    if (record.fault === undefined) {
      this.endOnStream(pending, context, { launch: launchReport(record) }, undefined);
      return;
    }
    const { fault } = record;
    context.fault = fault.message;
    this.endOnStream(
      pending,
      context,
      { launch: launchReport(record) },
      { code: 'kernelFault', message: fault.message, fault },
    );
    this.killContext(context);
  }

  onBlocksDone(gpu: number, reports: readonly BlockReport[]): void {
    for (const report of reports) {
      const pending = this.state.pending.get(this.state.launches.get(`${gpu}:${report.launch}`) ?? -1);
      if (pending === undefined) continue;
      const { ticket, context, stream } = pending.command;
      const { block, sm, startNs, endNs } = report;
      this.parts.sinks
        .find(pending.sink)
        ?.onBlockDone?.({ ticket, context, stream, block, sm, startNs, endNs });
    }
  }

  /** A fault ends everything of its context and nothing else. */
  private killContext(context: ContextState): void {
    this.parts.devices[context.gpu].killContext(context.id);
    for (const stream of context.streams.values()) stream.queue.length = 0;
    for (const sequence of [...context.inFlight]) {
      const pending = this.state.pending.get(sequence);
      // What is still on its way will be refused when it arrives.
      if (pending === undefined || pending.phase === 'submitting' || pending.phase === 'waiting') continue;
      if (pending.launch !== undefined) this.state.launches.delete(`${context.gpu}:${pending.launch}`);
      this.complete(pending, undefined, failureOf(contextFaulted(context)));
    }
  }

  private endOnStream(
    pending: PendingCommand,
    context: ContextState,
    result: DriverResult | undefined,
    failure: DriverFailure | undefined,
  ): void {
    const stream = context.streams.get(pending.command.stream);
    if (stream !== undefined) this.leaveStream(stream, pending);
    this.complete(pending, result, failure);
    if (stream !== undefined && context.fault === undefined) this.pump(context, stream);
  }

  private complete(pending: PendingCommand, result: DriverResult | undefined, failure?: DriverFailure): void {
    const { command, sequence } = pending;
    this.state.pending.delete(sequence);
    const context = this.contexts.find(pending.context);
    context?.inFlight.delete(sequence);
    this.observer?.onCompleted(pending, context, result, failure);
    const sink = this.parts.sinks.find(pending.sink);
    this.parts.sinks.release(pending.sink);
    sink?.onCompletion({
      ticket: command.ticket,
      context: command.context,
      stream: command.stream,
      op: command.op,
      timeNs: this.parts.agenda.nowNs(),
      ...(result === undefined ? {} : { result }),
      ...(failure === undefined ? {} : { failure }),
    });
    if (context !== undefined && context.barriers.length > 0) this.passBarriers(context);
  }

  private profileOf(pending: PendingCommand): DeviceProfile {
    const context = this.contexts.find(pending.context);
    return this.parts.profiles[context?.gpu ?? 0];
  }
}

function launchReport(record: LaunchRecord): NonNullable<DriverResult['launch']> {
  return {
    kernel: record.kernel,
    startNs: record.arrivedNs,
    endNs: record.endNs,
    threadInstructions: record.counters.threadInstructions,
    warpInstructions: record.counters.warpInstructions,
    dramBytes: Math.round(record.dramBytes),
    energyMillijoules: record.energyMillijoules,
    executorSeconds: record.executorSeconds,
    ...(record.printed === undefined ? {} : { printed: record.printed }),
  };
}
