import type { CommandChecks } from './commandChecks.js';
import type { CaptureMode, DriverCommand, DriverErrorCode, DriverResult } from './commands.js';
import type { CaptureState, ContextState, EventState, GraphNodeState, StreamState } from './driverState.js';
import type { EventTable } from './eventTable.js';
import { isGraphCommand, type GraphTable } from './graphTable.js';
import { Refusal } from './refusal.js';

const MODES: ReadonlySet<string> = new Set<CaptureMode>(['global', 'threadLocal', 'relaxed']);

/**
 * Captures of streams: what a capturing stream gets becomes a graph's nodes and does not run. An event recorded in one
 * carries the capture into every stream that waits for it. What a capture forbids spoils it, as in CUDA.
 */
export class StreamCapture {
  constructor(
    private readonly graphs: GraphTable,
    private readonly events: EventTable,
    private readonly checks: CommandChecks,
  ) {}

  begin(context: ContextState, stream: StreamState, mode: CaptureMode): void {
    if (!MODES.has(mode)) {
      throw new Refusal('invalidValue', `mode: '${String(mode)}'; it is one of ${[...MODES].join(', ')}`);
    }
    if (isLegacy(context, stream)) {
      throw new Refusal('streamCaptureUnsupported', 'stream: the legacy default stream cannot be captured');
    }
    if (stream.capture !== undefined) {
      throw new Refusal('invalidValue', `stream: ${stream.id} is capturing already`);
    }
    context.captures.set(stream.id, {
      origin: stream.id,
      mode,
      nodes: [],
      tails: new Map([[stream.id, []]]),
    });
    stream.capture = stream.id;
  }

  /** @returns the graph. */
  end(context: ContextState, stream: StreamState): number {
    const capture = this.of(context, stream);
    if (capture === undefined) throw new Refusal('invalidValue', `stream: ${stream.id} is not capturing`);
    if (capture.origin !== stream.id) {
      throw this.spoil(
        capture,
        'streamCaptureUnmatched',
        `stream: the capture that ${stream.id} takes part in was begun on stream ${capture.origin} and must be ended there`,
      );
    }
    const unjoined = unjoinedStreams(capture);
    this.drop(context, stream.id);
    if (capture.invalidated !== undefined) {
      throw new Refusal('streamCaptureInvalidated', `the capture gives no graph: ${capture.invalidated}`);
    }
    if (unjoined.length > 0) {
      throw new Refusal(
        'streamCaptureUnjoined',
        `stream: work of stream ${unjoined.join(', ')} was never joined to stream ${stream.id} by an event`,
      );
    }
    return this.graphs.create(context, capture.nodes);
  }

  /** A stream that a capture was begun on ends it, or is gone: nothing is captured any more, and nothing forbidden. */
  drop(context: ContextState, origin: number): void {
    const capture = context.captures.get(origin);
    if (capture === undefined) return;
    for (const id of capture.tails.keys()) {
      const member = context.streams.get(id);
      if (member !== undefined) delete member.capture;
    }
    context.captures.delete(origin);
    for (const event of context.events.values()) {
      if (event.captured?.capture === origin) delete event.captured;
    }
  }

  status(context: ContextState, stream: StreamState): 'none' | 'active' | 'invalidated' {
    const capture = this.of(context, stream);
    if (capture === undefined) return 'none';
    return capture.invalidated === undefined ? 'active' : 'invalidated';
  }

  /** Takes a command of a capturing stream. @returns what it gives back, or undefined: the stream does not capture. */
  take(command: DriverCommand, context: ContextState, stream: StreamState): DriverResult | undefined {
    const capture = this.of(context, stream) ?? this.joined(command, context, stream);
    if (capture === undefined) return undefined;
    if (capture.invalidated !== undefined) {
      throw new Refusal('streamCaptureInvalidated', `the capture is spoilt: ${capture.invalidated}`);
    }
    const tail = capture.tails.get(stream.id) ?? [];
    if (isGraphCommand(command)) {
      this.checks.check(command, context);
      const { op, args } = command;
      // The pair belongs together; the union cannot see that.
      capture.nodes.push({ command: { op, args } as GraphNodeState['command'], after: tail });
      capture.tails.set(stream.id, [capture.nodes.length - 1]);
      return { handle: capture.nodes.length - 1 };
    }
    if (command.op === 'eventRecord') {
      this.events.use(context, command.args.event).captured = { capture: capture.origin, after: tail };
      return {};
    }
    if (command.op === 'eventWait') {
      const event = this.waited(command, context);
      if (event?.captured === undefined) {
        throw this.spoil(
          capture,
          'streamCaptureIsolation',
          `event: ${command.args.event} was not recorded in this capture, which may not depend on what is outside of it`,
        );
      }
      if (event.captured.capture !== capture.origin) {
        throw this.spoil(
          capture,
          'streamCaptureMerge',
          `event: ${command.args.event} belongs to the capture of stream ${event.captured.capture}; captures do not merge`,
        );
      }
      capture.tails.set(stream.id, [...new Set([...tail, ...event.captured.after])]);
      return {};
    }
    throw this.spoil(
      capture,
      'streamCaptureUnsupported',
      `'${command.op}' is not permitted while stream ${stream.id} is capturing`,
    );
  }

  /** Calls that no capture sees may not be made during one, unless it is relaxed. @throws Refusal */
  forbid(context: ContextState, op: string): void {
    for (const capture of context.captures.values()) {
      if (capture.mode === 'relaxed') continue;
      throw this.spoil(
        capture,
        'streamCaptureUnsupported',
        `'${op}' is not permitted while stream ${capture.origin} is capturing in mode '${capture.mode}'`,
      );
    }
  }

  /** The legacy default stream would wait for a stream that is capturing. @throws Refusal */
  forbidImplicit(context: ContextState, stream: StreamState): void {
    if (!isLegacy(context, stream)) return;
    for (const capture of context.captures.values()) {
      for (const id of capture.tails.keys()) {
        if (context.streams.get(id)?.nonBlocking !== false) continue;
        throw this.spoil(
          capture,
          'streamCaptureImplicit',
          `stream: the legacy default stream would wait for stream ${id}, which is capturing`,
        );
      }
    }
  }

  /** An event that was last recorded in a capture can be asked for nothing. @throws Refusal */
  forbidCaptured(context: ContextState, id: number, event: EventState): void {
    if (event.captured === undefined) return;
    const message = `event: ${id} was last recorded in the capture of stream ${event.captured.capture}`;
    const capture = context.captures.get(event.captured.capture);
    if (capture === undefined) throw new Refusal('capturedEvent', message);
    throw this.spoil(capture, 'capturedEvent', message);
  }

  private of(context: ContextState, stream: StreamState): CaptureState | undefined {
    return stream.capture === undefined ? undefined : context.captures.get(stream.capture);
  }

  /** A stream that waits for a captured event takes part from then on. */
  private joined(
    command: DriverCommand,
    context: ContextState,
    stream: StreamState,
  ): CaptureState | undefined {
    if (command.op !== 'eventWait' || context.captures.size === 0) return undefined;
    const captured = this.waited(command, context)?.captured;
    const capture = captured === undefined ? undefined : context.captures.get(captured.capture);
    if (capture === undefined) return undefined;
    if (isLegacy(context, stream)) {
      throw this.spoil(
        capture,
        'streamCaptureImplicit',
        'stream: the legacy default stream cannot take part in a capture',
      );
    }
    stream.capture = capture.origin;
    capture.tails.set(stream.id, []);
    return capture;
  }

  private waited(
    command: Extract<DriverCommand, { op: 'eventWait' }>,
    context: ContextState,
  ): EventState | undefined {
    const { event, eventContext } = command.args;
    return eventContext === undefined || eventContext === context.id ? context.events.get(event) : undefined;
  }

  private spoil(capture: CaptureState, code: DriverErrorCode, message: string): Refusal {
    capture.invalidated ??= message;
    return new Refusal(code, message);
  }
}

export function isLegacy(context: ContextState, stream: StreamState): boolean {
  return stream.id === 0 && context.defaultStream === 'legacy';
}

/** Streams with nodes that nothing of the origin's comes behind. */
function unjoinedStreams({ origin, nodes, tails }: CaptureState): number[] {
  const before = new Set<number>();
  const left = [...(tails.get(origin) ?? [])];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (before.has(node)) continue;
    before.add(node);
    left.push(...nodes[node].after);
  }
  return [...tails].filter(([, tail]) => tail.some((node) => !before.has(node))).map(([id]) => id);
}
