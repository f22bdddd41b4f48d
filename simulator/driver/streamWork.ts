import type { DriverFailure, DriverResult } from './commands.js';
import { requireAlive, type ContextTable } from './contextTable.js';
import { CopyEngines } from './copyEngines.js';
import type { CopyUsage } from './copyMeter.js';
import { CommandChecks } from './commandChecks.js';
import { CommandStarts } from './commandStarts.js';
import type { CopyCommand } from './copyTraffic.js';
import type { DriverObserver } from './driverObserver.js';
import type { ContextState, DriverState, PendingCommand, Predecessor, StreamState } from './driverState.js';
import { EventTable } from './eventTable.js';
import { isFrontEndWork } from './frontEnd.js';
import { GraphRuns } from './graphRuns.js';
import { GraphTable } from './graphTable.js';
import type { Hazards } from './hazards.js';
import { recoveryMove } from './recoveryMove.js';
import { failureOf } from './refusal.js';
import { HOST_CPU_LINK } from './sharedLinks.js';
import type { StreamCommand } from './streamCommands.js';
import type { StreamSurroundings } from './streamSurroundings.js';
import { StreamCapture } from './streamCapture.js';
import { joinAfterOthers, waitFor } from './streamOrder.js';

/** Streams and what runs in them: the oldest command of a stream runs, the others wait; graphs run nodes side by side. */
export class StreamWork {
  readonly events: EventTable;
  readonly graphs: GraphTable;
  readonly capture: StreamCapture;
  private readonly checks: CommandChecks;
  private readonly copies: CopyEngines;
  private readonly runs: GraphRuns;
  private readonly starts: CommandStarts;
  private observer: DriverObserver | undefined;
  /** Streams whose oldest command may have become able to start; empty between two events. */
  private readonly ready: { readonly context: ContextState; readonly stream: StreamState }[] = [];
  private draining = false;
  private readonly hazards: Hazards | undefined;

  constructor(
    private readonly around: StreamSurroundings,
    private readonly state: DriverState,
    private readonly contexts: ContextTable,
    private readonly complete: (
      pending: PendingCommand,
      result: DriverResult | undefined,
      failure?: DriverFailure,
    ) => void,
  ) {
    this.hazards = around.hazards;
    this.events = new EventTable(state);
    this.checks = new CommandChecks(around, contexts);
    this.graphs = new GraphTable(state, this.checks);
    this.capture = new StreamCapture(this.graphs, this.events, this.checks);
    this.copies = new CopyEngines(
      around,
      state,
      contexts,
      ({ pending, context }, result, failure) => this.frontEndEnded(pending, context, result, failure),
      (pending, context) => this.around.recovery?.onMoved(pending, context),
    );
    this.runs = new GraphRuns(
      state,
      (node, context) => this.startNode(node, context),
      (run, context) => this.graphEnded(run, context),
    );
    this.starts = new CommandStarts(
      around,
      contexts,
      this.checks,
      this.copies,
      this.graphs,
      this.runs,
      (pending, context) => this.notice(pending, context),
    );
  }

  observe(observer: DriverObserver | undefined): void {
    this.observer = observer;
    this.copies.observer = observer;
  }

  copyUsage(gpu: number): CopyUsage {
    return this.copies.usage(gpu);
  }

  onDue(kind: string, sequence: number): void {
    switch (kind) {
      case 'copyLatency':
        this.copies.onLatencyOver(sequence);
        return;
      case 'copied':
        this.copies.onCopied(sequence);
        return;
      case 'unstaged':
        this.copies.onUnstaged(sequence);
        return;
    }
    const pending = this.state.pending.get(sequence);
    const context = pending === undefined ? undefined : this.contexts.find(pending.context);
    if (pending === undefined || context === undefined) return;
    switch (kind) {
      case 'copyReady':
        this.copies.queue({ pending, context, command: pending.command as CopyCommand });
        return;
      case 'recover':
        this.around.recovery?.onRecover(pending, context);
        return;
      case 'saveReady': {
        const command = recoveryMove(pending);
        if (command !== undefined) this.copies.queue({ pending, context, command });
        return;
      }
      case 'recorded':
        this.stamp(pending, context);
        this.frontEndEnded(pending, context, {}, undefined);
        return;
      case 'noticed':
        this.complete(pending, {});
        return;
      case 'calling':
        this.callHost(pending);
        return;
      case 'called':
        this.ended(pending, context, {}, undefined);
        return;
      default:
        throw new Error(`the driver knows no event '${kind}'`);
    }
  }

  /** A command that no control call is: joins its stream, or the graph that the stream captures. */
  arrive(pending: PendingCommand, command: StreamCommand, context: ContextState): void {
    if (command.op === 'eventSynchronize') {
      this.synchroniseEvent(pending, context, command.args.event);
      return;
    }
    const stream = this.contexts.requireStream(context, command.stream);
    if (context.captures.size > 0) {
      this.capture.forbidImplicit(context, stream);
      const captured = this.capture.take(command, context, stream);
      if (captured !== undefined) {
        this.complete(pending, captured);
        return;
      }
    }
    switch (command.op) {
      case 'mallocAsync':
        this.complete(pending, { address: this.contexts.allocate(context, command.args.bytes) });
        return;
      case 'freeAsync':
        this.contexts.requireAllocation(context, command.args.address);
        break;
      case 'eventRecord': {
        const event = this.events.use(context, command.args.event);
        event.record = pending.sequence;
        delete event.recordedNs;
        delete event.captured;
        break;
      }
      case 'eventWait': {
        const { event, eventContext } = command.args;
        const owner = eventContext === undefined ? context : this.contexts.require(eventContext);
        waitFor(this.state, pending, this.events.use(owner, event).record);
        break;
      }
      case 'launch':
        pending.request = this.starts.requestOf(pending, command, context);
        break;
      case 'graphLaunch': {
        const exec = this.graphs.requireExec(context, command.args.exec);
        waitFor(this.state, pending, exec.lastLaunch);
        exec.lastLaunch = pending.sequence;
        exec.uploaded = true;
        break;
      }
      case 'streamSynchronize':
        if (stream.queue.length === 0 && (stream.id !== 0 || context.defaultStream !== 'legacy')) {
          this.complete(pending, {});
          return;
        }
        break;
      case 'hostFunction':
      case 'memcpyDeviceToDevice':
      case 'memcpyDeviceToHost':
      case 'memcpyHostToDevice':
      case 'memcpyPeer':
      case 'memset':
        this.checks.check(command, context);
    }
    joinAfterOthers(this.state, context, stream, pending);
    pending.phase = 'queued';
    stream.queue.push(pending.sequence);
    this.observer?.onQueued(pending, context);
    if (stream.queue.length === 1) this.pump(context, stream);
  }

  /** Something is over: commands that waited for it may go on. */
  release(sequence: number): void {
    const waiting = this.state.dependents.get(sequence);
    if (waiting === undefined) return;
    this.state.dependents.delete(sequence);
    for (const each of waiting) {
      const pending = this.state.pending.get(each);
      const context = pending === undefined ? undefined : this.contexts.find(pending.context);
      if (pending === undefined || context === undefined) continue;
      pending.blockers -= 1;
      if (pending.blockers > 0 || context.fault !== undefined) continue;
      if (pending.node !== undefined) this.startNode(pending, context);
      else if (pending.phase === 'waiting') this.notice(pending, context);
      else this.unblock(pending, context);
    }
  }

  /** A launch of a device has ended well: a kernel, or a copy that SMs did. */
  launchEnded(pending: PendingCommand, context: ContextState, result: DriverResult): void {
    const { command } = pending;
    if (command.op === 'launch') this.ended(pending, context, result, undefined);
    else this.copies.finish({ pending, context, command: command as CopyCommand });
  }

  /** A command of a stream, or a node of a graph, is over. */
  ended(
    pending: PendingCommand,
    context: ContextState,
    result: DriverResult | undefined,
    failure: DriverFailure | undefined,
  ): void {
    if (pending.node !== undefined) {
      const run = this.state.pending.get(pending.node.run)?.run;
      if (run !== undefined) this.goneBy(run, pending);
      this.runs.nodeEnded(pending, context, result, failure);
      this.complete(pending, result, failure);
      return;
    }
    const stream = context.streams.get(pending.command.stream);
    if (stream !== undefined) this.leave(stream, pending);
    this.complete(pending, result, failure);
    if (stream !== undefined && context.fault === undefined) this.pump(context, stream);
  }

  /** The same of a command that SMs have no part in: where contexts take turns, the device looks who is idle now. */
  private frontEndEnded(
    pending: PendingCommand,
    context: ContextState,
    result: DriverResult | undefined,
    failure: DriverFailure | undefined,
  ): void {
    const isSeen = isFrontEndWork(pending, this.around.profiles[context.gpu]);
    this.ended(pending, context, result, failure);
    if (isSeen) this.around.devices[context.gpu].onFrontEndDone();
  }

  // --- what may start ---

  private unblock(pending: PendingCommand, context: ContextState): void {
    const stream = context.streams.get(pending.command.stream);
    if (stream === undefined || stream.queue[0] !== pending.sequence) return;
    stream.lastOp = 'eventWait';
    stream.lastEndNs = this.around.agenda.nowNs();
    this.pump(context, stream);
  }

  private pump(context: ContextState, stream: StreamState): void {
    this.ready.push({ context, stream });
    if (this.draining) return;
    this.draining = true;
    for (let next = this.ready.shift(); next !== undefined; next = this.ready.shift()) {
      this.drain(next.context, next.stream);
    }
    this.draining = false;
  }

  private drain(context: ContextState, stream: StreamState): void {
    for (;;) {
      const pending = this.state.pending.get(stream.queue[0] ?? -1);
      if (pending === undefined || pending.phase !== 'queued') return;
      this.observer?.onStarted(pending, context);
      if (pending.blockers > 0 || this.hazards?.holds(pending, context) === true) return;
      let failure: DriverFailure | undefined;
      try {
        requireAlive(context);
        const started = this.starts.start(pending, context, stream, stream.priority);
        if (started === 'running') return;
        if (started === 'left') {
          this.leave(stream, pending);
          continue;
        }
      } catch (error) {
        failure = failureOf(error);
      }
      this.leave(stream, pending);
      this.complete(pending, failure === undefined ? {} : undefined, failure);
    }
  }

  private startNode(pending: PendingCommand, context: ContextState): void {
    const run = this.state.pending.get(pending.node?.run ?? -1)?.run;
    if (run === undefined || pending.phase !== 'queued') return;
    const priority = context.streams.get(pending.command.stream)?.priority ?? 0;
    try {
      requireAlive(context);
      const { command } = pending;
      if (this.hazards?.holds(pending, context) === true) return;
      if (command.op === 'launch') pending.request = this.starts.requestOf(pending, command, context);
      this.observer?.onStarted(pending, context);
      this.starts.start(pending, context, run, priority);
    } catch (error) {
      this.ended(pending, context, undefined, failureOf(error));
    }
  }

  // --- ends ---

  private leave(stream: StreamState, pending: PendingCommand): void {
    if (stream.queue[0] === pending.sequence) stream.queue.shift();
    this.goneBy(stream, pending);
  }

  /** What takes no time of the device leaves no trace in what comes behind it. */
  private goneBy(place: Predecessor, pending: PendingCommand): void {
    const { op } = pending.command;
    if (op === 'eventWait' || op === 'freeAsync' || op === 'streamSynchronize') return;
    if (op === 'eventRecord' && pending.phase === 'queued') return;
    // A graph ends with its last node, which is what counts.
    if (pending.run !== undefined) {
      place.lastOp = pending.run.lastOp ?? op;
      place.lastEndNs = pending.run.lastEndNs;
      return;
    }
    place.lastOp = op;
    place.lastEndNs = this.around.agenda.nowNs();
  }

  private graphEnded(pending: PendingCommand, context: ContextState): void {
    const { results, failure } = pending.run ?? { results: [] };
    results.sort((a, b) => a.node - b.node);
    this.ended(pending, context, { nodes: results }, failure);
  }

  private stamp(pending: PendingCommand, context: ContextState): void {
    const { command, sequence } = pending;
    if (command.op !== 'eventRecord') return;
    const event = context.events.get(command.args.event);
    if (event?.record !== sequence) return;
    const { eventStepNs } = this.around.profiles[context.gpu].timing;
    event.recordedNs = Math.floor(this.around.agenda.nowNs() / eventStepNs) * eventStepNs;
  }

  private synchroniseEvent(pending: PendingCommand, context: ContextState, id: number): void {
    const event = this.events.require(context, 'event', id);
    this.capture.forbidCaptured(context, id, event);
    waitFor(this.state, pending, event.record);
    if (pending.blockers === 0) {
      this.complete(pending, {});
      return;
    }
    pending.phase = 'waiting';
  }

  /** The host hears of an end. */
  private notice(pending: PendingCommand, context: ContextState): void {
    const { agenda, name, profiles } = this.around;
    pending.phase = 'running';
    const atNs = agenda.nowNs() + profiles[context.gpu].submission.noticeNs;
    agenda.schedule(name, atNs, 'noticed', pending.sequence);
  }

  private callHost({ command, sequence }: PendingCommand): void {
    if (command.op !== 'hostFunction') return;
    this.around.links.start({
      amount: command.args.hostNs,
      uses: [{ link: HOST_CPU_LINK, weight: 1 }],
      mostPerNs: 1,
      target: this.around.name,
      kind: 'called',
      payload: sequence,
    });
  }
}
