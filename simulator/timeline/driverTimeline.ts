import type {
  ContextState,
  DriverFailure,
  DriverObserver,
  DriverResult,
  PendingCommand,
} from '../driver/index.js';
import { commandText } from './commandText.js';
import { CounterTrack } from './counterTrack.js';
import { Track, TrackNumbers } from './track.js';
import type { TraceArgs, TraceWriter } from './traceWriter.js';

/** Processes of contexts are numbered from here on, those of GPUs below. */
const FIRST_CONTEXT_PID = 1000;
/** Copy engines come behind the GPCs of their GPU. */
const COPY_ENGINE_ORDER = 900;

interface Stream {
  readonly pid: number;
  readonly track: Track;
  /** What the graphs that it launches consist of. */
  readonly nodes: Track;
  readonly queued: CounterTrack;
  readonly queueName: string;
}

/** A command in its stream. */
interface Waiting {
  readonly stream: Stream;
  readonly streamId: number;
  readonly priority: number;
  /** Of a graph, whose nodes wait for one another and not in the stream. */
  readonly isNode: boolean;
  readonly queuedNs: number;
  startedNs?: number;
}

interface Copying {
  readonly track: Track;
  readonly startNs: number;
  readonly copy: PendingCommand;
}

/** Where a GPU's own tracks are. */
export interface GpuProcess {
  readonly pid: number;
  readonly numbers: TrackNumbers;
}

/**
 * The tracks of streams, with their queues, and of copy engines. A stream's slice is a command from the moment that it is
 * its stream's oldest to its end; the wait before that is a span of the stream's queue.
 */
export class DriverTimeline implements DriverObserver {
  private readonly contexts = new Map<number, { readonly pid: number; readonly numbers: TrackNumbers }>();
  private readonly streams = new Map<string, Stream>();
  private readonly waiting = new Map<number, Waiting & { readonly pending: PendingCommand }>();
  private readonly engines = new Map<string, Track>();
  private readonly copying = new Map<string, Copying>();

  constructor(
    private readonly writer: TraceWriter,
    private readonly gpus: readonly GpuProcess[],
    private readonly nowNs: () => number,
    private readonly contextName: (context: number) => string | undefined,
  ) {}

  onQueued(pending: PendingCommand, context: ContextState): void {
    const streamId = pending.command.stream;
    const stream = this.streamOf(context, streamId);
    const queuedNs = this.nowNs();
    const state = context.streams.get(streamId);
    this.waiting.set(pending.sequence, {
      pending,
      stream,
      streamId,
      priority: state?.priority ?? 0,
      isNode: false,
      queuedNs,
    });
    stream.queued.set(queuedNs, { commands: state?.queue.length ?? 0 });
  }

  onStarted(pending: PendingCommand, context: ContextState): void {
    if (pending.node !== undefined) {
      this.onNodeStarted(pending, context);
      return;
    }
    const held = this.waiting.get(pending.sequence);
    if (held === undefined || held.startedNs !== undefined) return;
    held.startedNs = this.nowNs();
    const { stream, queuedNs, startedNs } = held;
    if (Math.round(startedNs) <= Math.round(queuedNs)) return;
    const { name } = commandText(pending.command, held.priority);
    this.writer.span(stream.pid, 'queue', stream.queueName, pending.sequence, queuedNs, startedNs, {
      command: name,
    });
  }

  onCompleted(
    pending: PendingCommand,
    context: ContextState | undefined,
    result: DriverResult | undefined,
    failure: DriverFailure | undefined,
  ): void {
    const held = this.waiting.get(pending.sequence);
    if (held === undefined) return;
    this.waiting.delete(pending.sequence);
    const nowNs = this.nowNs();
    this.show(held, nowNs, {
      ...reportArgs(result),
      ...(failure === undefined ? {} : { failure: failure.code }),
    });
    if (held.isNode) return;
    const left = context?.streams.get(held.streamId)?.queue.length ?? 0;
    held.stream.queued.set(nowNs, { commands: left });
  }

  onCopyStarted(engine: string, copy: PendingCommand, context: ContextState): void {
    this.copying.set(engine, { track: this.engineTrack(engine, context.gpu), startNs: this.nowNs(), copy });
  }

  onCopyEnded(engine: string): void {
    const held = this.copying.get(engine);
    if (held === undefined) return;
    this.copying.delete(engine);
    this.showCopy(held, {});
  }

  /** What is under way is shown up to now. */
  end(nowNs: number): void {
    for (const held of this.waiting.values()) {
      if (held.startedNs !== undefined) this.show(held, nowNs, { unfinished: true });
    }
    for (const held of this.copying.values()) this.showCopy(held, { unfinished: true });
    for (const { queued } of this.streams.values()) queued.flush();
  }

  private onNodeStarted(pending: PendingCommand, context: ContextState): void {
    const streamId = pending.command.stream;
    const nowNs = this.nowNs();
    this.waiting.set(pending.sequence, {
      pending,
      stream: this.streamOf(context, streamId),
      streamId,
      priority: context.streams.get(streamId)?.priority ?? 0,
      isNode: true,
      queuedNs: nowNs,
      startedNs: nowNs,
    });
  }

  private show(held: Waiting & { readonly pending: PendingCommand }, endNs: number, more: TraceArgs): void {
    const { pending, stream, isNode, queuedNs, startedNs, priority } = held;
    const { name, args, isInstant } = commandText(pending.command, priority);
    const waited: TraceArgs = isNode ? {} : { waitedUs: Math.round((startedNs ?? endNs) - queuedNs) / 1000 };
    const all = { ticket: pending.command.ticket, ...args, ...waited, ...more };
    const track = isNode ? stream.nodes : stream.track;
    // A record of an event without a time stamp takes no time.
    const isOver = startedNs === undefined || Math.round(startedNs) === Math.round(endNs);
    if (isOver || isInstant === true) track.instant(name, endNs, all);
    else track.slice(name, startedNs, endNs, all);
  }

  private showCopy({ track, startNs, copy }: Copying, more: TraceArgs): void {
    const { name, args } = commandText(copy.command, 0);
    const { context, stream } = copy.command;
    track.slice(name, startNs, this.nowNs(), { context, stream, ...args, ...more });
  }

  private streamOf(context: ContextState, id: number): Stream {
    const key = `${context.id}/${id}`;
    let stream = this.streams.get(key);
    if (stream !== undefined) return stream;
    const { pid, numbers } = this.processOf(context);
    const name = `stream ${id}`;
    const queueName = `queue of ${name}`;
    stream = {
      pid,
      queueName,
      track: new Track(this.writer, numbers, pid, name, 'stream', 2 * id),
      nodes: new Track(this.writer, numbers, pid, `${name}: graphs`, 'graph', 2 * id + 1),
      queued: new CounterTrack(this.writer, pid, `${queueName}: commands`),
    };
    this.streams.set(key, stream);
    return stream;
  }

  private processOf({ id, gpu }: ContextState): { readonly pid: number; readonly numbers: TrackNumbers } {
    let process = this.contexts.get(id);
    if (process !== undefined) return process;
    process = { pid: FIRST_CONTEXT_PID + id, numbers: new TrackNumbers() };
    this.contexts.set(id, process);
    const name = this.contextName(id);
    const text = `context ${id} on GPU ${gpu}${name === undefined ? '' : `: ${name}`}`;
    this.writer.processName(process.pid, text, process.pid);
    return process;
  }

  private engineTrack(engine: string, gpu: number): Track {
    let track = this.engines.get(engine);
    if (track !== undefined) return track;
    const { pid, numbers } = this.gpus[gpu];
    // Engines are named `gpu0:toDevice`; the process says which GPU.
    const name = `copy engine ${engine.replace(/^gpu\d+:/, '')}`;
    track = new Track(this.writer, numbers, pid, name, 'copy', COPY_ENGINE_ORDER + this.engines.size);
    this.engines.set(engine, track);
    return track;
  }
}

function reportArgs(result: DriverResult | undefined): TraceArgs {
  if (result?.launch === undefined) return {};
  const { startNs, endNs, threadInstructions, warpInstructions, dramBytes, energyMillijoules } =
    result.launch;
  const durationUs = Math.round(endNs - startNs) / 1000;
  return { durationUs, threadInstructions, warpInstructions, dramBytes, energyMillijoules };
}
