import { GRAPH_OPS, type DriverCommand, type DriverOp, type GraphOp } from './commands.js';

const STREAM_OPS = [
  ...GRAPH_OPS,
  'graphLaunch',
  'eventRecord',
  'eventWait',
  'eventSynchronize',
  'mallocAsync',
  'freeAsync',
  'streamSynchronize',
] as const satisfies readonly DriverOp[];
const STREAM_OP_NAMES: ReadonlySet<DriverOp> = new Set(STREAM_OPS);

/** What has its place in the order of a stream. */
export type StreamCommand = Extract<DriverCommand, { op: (typeof STREAM_OPS)[number] }>;

/** What waits in a stream until it is its turn, or is a node of a graph. */
export type QueuedCommand = Exclude<StreamCommand, { op: 'eventSynchronize' | 'mallocAsync' }>;

/** What a node of a graph may be, with what the graph's launch gives it. */
export type NodeCommand = Extract<DriverCommand, { op: GraphOp }>;

/** What acts once all of its context before it is over, or makes a context. */
type ContextCommand = Extract<
  DriverCommand,
  { op: 'contextCreate' | 'contextDestroy' | 'free' | 'objectDestroy' }
>;

/** What is answered when it arrives. */
export type ControlCommand = Exclude<DriverCommand, StreamCommand | ContextCommand>;

export function isStreamCommand(command: DriverCommand): command is StreamCommand {
  return STREAM_OP_NAMES.has(command.op);
}

/** A command that a stream holds. */
export function queuedCommand(command: DriverCommand): QueuedCommand {
  if (isStreamCommand(command) && command.op !== 'eventSynchronize' && command.op !== 'mallocAsync')
    return command;
  throw new Error(`'${command.op}' never waits in a stream`);
}
