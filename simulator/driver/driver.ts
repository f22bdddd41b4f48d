import type { ExecutorLaunch, NodeMemory } from '../executor/index.js';
import {
  asksVerdicts,
  type FaultOptions,
  type FaultTotals,
  type RecoveryScheme,
  type SavePlace,
} from '../faults/index.js';
import type {
  Agenda,
  AgendaTarget,
  BlockReport,
  CostLibrary,
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
import { ControlCalls } from './controlCalls.js';
import type { CopyUsage } from './copyMeter.js';
import type { DriverObserver } from './driverObserver.js';
import { emptyDriver, type ContextState, type DriverState, type PendingCommand } from './driverState.js';
import { FaultRecovery } from './faultRecovery.js';
import { isAtFrontEnd } from './frontEnd.js';
import { Hazards } from './hazards.js';
import { HostThreads } from './hostThreads.js';
import { entryNamed } from './launchCheck.js';
import { judgeAgain } from './lateVerdicts.js';
import { LaunchJudge, type VerdictSource } from './launchJudge.js';
import type { ModuleLibrary } from './moduleLibrary.js';
import { Refusal, failureOf } from './refusal.js';
import type { SharedLinks } from './sharedLinks.js';
import { requireObject } from './textureObjects.js';
import type { SinkTable } from './sinkTable.js';
import { isStreamCommand } from './streamCommands.js';
import { StreamWork } from './streamWork.js';
import { checkThreadShare } from './threadShares.js';

export interface DriverParts {
  readonly name: string;
  readonly agenda: Agenda;
  readonly links: SharedLinks;
  readonly memory: NodeMemory;
  readonly modules: ModuleLibrary;
  readonly profiles: readonly DeviceProfile[];
  readonly devices: readonly GpuDevice[];
  readonly sinks: SinkTable;
  /** What launches cost where nothing is executed. */
  readonly costs?: CostLibrary;
  /** There where a scheduling policy kills: tells which launches may be killed. */
  readonly verdicts?: VerdictSource | undefined;
  /** False: memory of killed launches is not held against later commands, to see what that is for. */
  readonly holdsKilled?: boolean | undefined;
  /** Transient faults that strike launches. */
  readonly faults?: FaultOptions;
  /** What is done so that launches can run again that were struck. Default `none`. */
  readonly recovery?: RecoveryScheme;
  /** Where memory is saved for that. Default `device`. */
  readonly saveTo?: SavePlace;
}

/**
 * The driver of one node: takes commands, charges their submission to the host's CPU, keeps streams in order, and runs
 * commands on devices and copy engines. Every command gets exactly one completion, in an event of its own after
 * `submit` has returned.
 *
 * `free` and `contextDestroy` wait for everything that their context submitted before them.
 */
export class Driver implements CommandSink, AgendaTarget {
  private readonly contexts: ContextTable;
  private readonly hostThreads: HostThreads;
  private readonly streams: StreamWork;
  private readonly calls: ControlCalls;
  private readonly interposers: Interposer[] = [];
  private readonly stages: CommandSink[] = [];
  private readonly hazards: Hazards | undefined;
  private readonly recovery: FaultRecovery | undefined;
  private readonly judge: LaunchJudge | undefined;
  private observer: DriverObserver | undefined;

  constructor(
    private readonly parts: DriverParts,
    readonly state: DriverState = emptyDriver(parts.devices.length),
  ) {
    this.contexts = new ContextTable(state, parts.memory, parts.profiles, parts.modules);
    const { verdicts, recovery: scheme = 'none' } = parts;
    const judge =
      verdicts === undefined ? undefined : new LaunchJudge(this.contexts, verdicts, asksVerdicts(scheme));
    this.judge = judge;
    this.hazards =
      verdicts === undefined && scheme === 'none'
        ? undefined
        : new Hazards(state, parts.devices, parts.holdsKilled ?? true);
    this.recovery = this.faultRecovery(scheme);
    this.hostThreads = new HostThreads(
      parts.name,
      parts.agenda,
      parts.links,
      state,
      (pending) => this.profileOf(pending),
      judge,
      this.recovery,
    );
    this.streams = new StreamWork(
      { ...parts, judge, hazards: this.hazards, recovery: this.recovery },
      state,
      this.contexts,
      (pending, result, failure) => this.complete(pending, result, failure),
    );
    this.calls = new ControlCalls(state, this.contexts, this.streams);
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
    this.streams.observe(observer);
  }

  /** What copies of a GPU have moved since the driver was made. */
  copyUsage(gpu: number): CopyUsage {
    return this.streams.copyUsage(gpu);
  }

  /** What faults have struck and what came of it; undefined where none strike and none are recovered from. */
  faultTotals(gpu: number): FaultTotals | undefined {
    return this.recovery?.totals(gpu);
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
      default:
        this.streams.onDue(kind, payload);
    }
  }

  private faultRecovery(scheme: RecoveryScheme): FaultRecovery | undefined {
    const { faults, saveTo = 'device' } = this.parts;
    if (faults === undefined && scheme === 'none') return undefined;
    return new FaultRecovery(
      {
        ...this.parts,
        scheme,
        faults: faults ?? {},
        saveTo,
        onStruck: (sequence) => this.hazards?.onKilled(sequence),
        onFailed: (pending, context, failure) => this.streams.ended(pending, context, undefined, failure),
      },
      this.state,
      this.contexts,
    );
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
      blockers: 0,
      request: undefined,
      node: undefined,
      run: undefined,
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
      this.complete(pending, { handle: this.createContext(command.args) });
      return;
    }
    const context = this.contexts.require(command.context);
    if (command.op === 'contextDestroy') {
      this.waitForEarlier(pending, context);
      return;
    }
    requireAlive(context);
    if (command.op === 'free') {
      this.streams.capture.forbid(context, 'free');
      this.contexts.requireAllocation(context, command.args.address);
      this.waitForEarlier(pending, context);
      return;
    }
    if (command.op === 'objectDestroy') {
      requireObject(this.contexts.space(context), command.args.object);
      this.waitForEarlier(pending, context);
      return;
    }
    if (isStreamCommand(command)) this.streams.arrive(pending, command, context);
    else this.complete(pending, this.calls.answer(command, context));
  }

  /** What it asks for is checked first: a refusal leaves no context. */
  private createContext(args: Extract<DriverCommand, { op: 'contextCreate' }>['args']): number {
    const { gpu, defaultStream, launchClass, activeThreadPercentage, timeSliceNs } = args;
    const device = gpu in this.parts.devices ? this.parts.devices[gpu] : undefined;
    checkThreadShare(activeThreadPercentage, device);
    if (timeSliceNs !== undefined) device?.contexts.checkSlice(timeSliceNs);
    const { id } = this.contexts.create(gpu, defaultStream, launchClass);
    if (activeThreadPercentage !== undefined) device?.contexts.giveShare(id, activeThreadPercentage);
    if (timeSliceNs !== undefined) device?.contexts.giveSlice(id, timeSliceNs);
    return id;
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
        } else if (command.op === 'objectDestroy') {
          const space = this.contexts.space(context);
          requireObject(space, command.args.object);
          space.unmap(command.args.object);
        } else this.destroy(context);
        this.complete(pending, {});
      } catch (error) {
        this.complete(pending, undefined, failureOf(error));
      }
    }
  }

  private destroy(context: ContextState): void {
    this.contexts.destroy(context);
    this.hostThreads.forget(context.id);
    this.parts.devices[context.gpu].contexts.forget(context.id);
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
  onLaunchEnd(record: LaunchRecord): void {
    const pending = this.state.pending.get(record.command ?? -1);
    const context = this.contexts.find(record.context);
    if (pending === undefined || context === undefined) return;
    if (record.gridWorkspace !== undefined) this.contexts.unmapGridWorkspace(context, record.gridWorkspace);
    if (this.recovery?.onEnd(pending, context, record) === true) return;
    const { fault } = record;
    if (fault === undefined) {
      this.streams.launchEnded(pending, context, { launch: launchReport(record, pending) });
      return;
    }
    context.fault = fault.message;
    this.streams.ended(
      pending,
      context,
      { launch: launchReport(record, pending) },
      { code: 'kernelFault', message: fault.message, fault },
    );
    this.killContext(context);
  }

  /** A device's launch was killed, and will run again. */
  onLaunchKilled(record: LaunchRecord): void {
    if (record.command !== undefined) this.hazards?.onKilled(record.command);
  }

  /** More is known of kernels than when some launches were judged. */
  onAnalysis(): void {
    if (this.judge !== undefined) judgeAgain(this.state, this.contexts, this.parts.devices, this.judge);
  }

  /** Whether a device's front end is at work for a context. */
  isAtFrontEnd(context: number): boolean {
    const state = this.contexts.find(context);
    return state !== undefined && isAtFrontEnd(this.state, state, this.parts.profiles[state.gpu]);
  }

  onBlocksDone(reports: readonly BlockReport[]): void {
    for (const report of reports) {
      const pending = this.state.pending.get(report.command ?? -1);
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
      this.complete(pending, undefined, pending.run?.failure ?? failureOf(contextFaulted(context)));
    }
  }

  private complete(pending: PendingCommand, result: DriverResult | undefined, failure?: DriverFailure): void {
    const { command, sequence } = pending;
    this.state.pending.delete(sequence);
    this.hazards?.onOver(sequence);
    this.recovery?.onOver(pending);
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
      result,
      failure,
    });
    this.streams.release(sequence);
    if (context !== undefined && context.barriers.length > 0) this.passBarriers(context);
  }

  private profileOf(pending: PendingCommand): DeviceProfile {
    const context = this.contexts.find(pending.context);
    return this.parts.profiles[context?.gpu ?? 0];
  }
}

function launchReport(
  record: LaunchRecord,
  { recovery }: PendingCommand,
): NonNullable<DriverResult['launch']> {
  return {
    kernel: record.kernel,
    startNs: recovery?.startNs ?? record.arrivedNs,
    endNs: record.endNs,
    threadInstructions: record.counters.threadInstructions,
    warpInstructions: record.counters.warpInstructions,
    dramBytes: Math.round(record.dramBytes),
    energyMillijoules: record.energyMillijoules,
    executorSeconds: record.executorSeconds,
    printed: record.printed,
    kills: record.kills === 0 ? undefined : record.kills,
    runs: recovery === undefined || recovery.runs === 1 ? undefined : recovery.runs,
    savedBytes: recovery?.saved?.bytes,
  };
}
