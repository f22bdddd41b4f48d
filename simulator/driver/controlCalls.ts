import type { DriverResult } from './commands.js';
import type { ContextTable } from './contextTable.js';
import type { ContextState, DriverState } from './driverState.js';
import type { ControlCommand } from './streamCommands.js';
import { createObject } from './textureObjects.js';
import type { StreamWork } from './streamWork.js';

/** Commands that are answered when they arrive and join no stream. */
export class ControlCalls {
  constructor(
    private readonly state: DriverState,
    private readonly contexts: ContextTable,
    private readonly streams: StreamWork,
  ) {}

  /** @throws Refusal */
  answer(command: ControlCommand, context: ContextState): DriverResult {
    const { contexts, streams } = this;
    const { events, graphs, capture } = streams;
    switch (command.op) {
      case 'streamCreate': {
        const { priority, nonBlocking, launchClass } = command.args;
        const stream = contexts.createStream(context, priority, nonBlocking ?? false, launchClass);
        return { handle: stream.id, priority: stream.priority };
      }
      case 'streamDestroy':
        contexts.destroyStream(context, command.stream);
        capture.drop(context, command.stream);
        return {};
      case 'moduleLoad': {
        const handle = contexts.loadModule(context, command.args.ptx, command.args.file);
        return { handle, symbols: contexts.symbols(context, handle) };
      }
      case 'malloc':
        capture.forbid(context, command.op);
        return { address: contexts.allocate(context, command.args.bytes) };
      case 'objectCreate':
        return {
          handle: createObject(contexts.space(context), command.args.resource, command.args.sampler),
        };
      case 'eventCreate':
        events.create(context, command.args.event, command.args.timing ?? true);
        return {};
      case 'eventDestroy':
        events.destroy(context, command.args.event);
        return {};
      case 'eventQuery': {
        const event = events.require(context, 'event', command.args.event);
        capture.forbidCaptured(context, command.args.event, event);
        return { ready: events.isReady(event) };
      }
      case 'eventElapsed':
        return { elapsedMs: events.elapsedMs(context, command.args.start, command.args.end) };
      case 'streamQuery': {
        const stream = contexts.requireStream(context, command.stream);
        capture.forbidImplicit(context, stream);
        // Which refuses it: a capture knows no such node.
        if (stream.capture !== undefined) capture.take(command, context, stream);
        return { ready: stream.queue.every((sequence) => !this.state.pending.has(sequence)) };
      }
      case 'streamBeginCapture':
        capture.begin(context, contexts.requireStream(context, command.stream), command.args.mode);
        return {};
      case 'streamEndCapture':
        return { handle: capture.end(context, contexts.requireStream(context, command.stream)) };
      case 'streamCaptureStatus':
        return { capture: capture.status(context, contexts.requireStream(context, command.stream)) };
      case 'graphCreate':
        return { handle: graphs.create(context) };
      case 'graphAddNode': {
        const { graph, after, node } = command.args;
        return { handle: graphs.addNode(context, graph, after, node) };
      }
      case 'graphDestroy':
        graphs.destroy(context, command.args.graph);
        return {};
      case 'graphInstantiate':
        return { handle: graphs.instantiate(context, command.args.graph) };
      case 'graphExecUpdateNode': {
        const { exec, index, node } = command.args;
        graphs.updateNode(context, exec, index, node);
        return {};
      }
      case 'graphExecDestroy':
        graphs.destroyExec(context, command.args.exec);
        return {};
    }
  }
}
