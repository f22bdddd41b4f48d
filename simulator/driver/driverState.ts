import type { DriverCommand, DriverOp } from './commands.js';

/** A command between its submission and its completion. Plain data. */
export interface PendingCommand {
  readonly sequence: number;
  readonly command: DriverCommand;
  /** Name of the sink that gets its completion. */
  readonly sink: string;
  /** Context that answers for it; a `contextCreate` has none. */
  readonly context: number;
  phase: 'submitting' | 'queued' | 'waiting' | 'running';
  /** For an event wait: the record that it waits for. */
  awaitedRecord?: number;
  /** The launch's id on its device. */
  launch?: number;
}

export interface StreamState {
  readonly id: number;
  readonly priority: number;
  /** Sequences of commands, oldest first; the first one runs. */
  readonly queue: number[];
  /** What ended here last and when: a launch right behind a launch hides part of its overhead. */
  lastOp?: DriverOp;
  lastEndNs: number;
}

export interface EventState {
  /** Records submitted and records completed so far. */
  submitted: number;
  completed: number;
}

export interface ModuleState {
  readonly handle: number;
  readonly identity: string;
  readonly ptx: string;
  readonly file: string;
  readonly symbols: ReadonlyMap<string, number>;
}

export interface ContextState {
  readonly id: number;
  readonly gpu: number;
  /** Identity of its address space in the node's memory. */
  readonly space: number;
  readonly streams: Map<number, StreamState>;
  readonly events: Map<number, EventState>;
  readonly modules: Map<number, ModuleState>;
  /** Bytes by address of its allocations. */
  readonly allocations: Map<number, number>;
  /** Sequences of its commands in flight. */
  readonly inFlight: Set<number>;
  /** Frees and destroys that wait for everything before them. */
  readonly barriers: number[];
  /** The fault that killed it, as a message. */
  fault?: string;
}

/** A copy engine: one copy at a time, in order of arrival. */
export interface CopyEngineState {
  readonly queue: number[];
  running?: number;
}

/** A submitting host thread: its commands take their CPU time one after the other. */
export interface HostThreadState {
  readonly queue: number[];
  busy: boolean;
}

export interface DriverState {
  readonly contexts: Map<number, ContextState>;
  readonly pending: Map<number, PendingCommand>;
  readonly hostThreads: Map<number, HostThreadState>;
  readonly engines: Map<string, CopyEngineState>;
  /** Sequence of the command behind a launch, by `gpu:launch`. */
  readonly launches: Map<string, number>;
  /** Bytes allocated on each GPU, against its declared memory. */
  readonly usedBytes: number[];
  nextHandle: number;
  nextSequence: number;
}

export function emptyDriver(gpus: number): DriverState {
  return {
    contexts: new Map(),
    pending: new Map(),
    hostThreads: new Map(),
    engines: new Map(),
    launches: new Map(),
    usedBytes: Array.from({ length: gpus }, () => 0),
    nextHandle: 1,
    nextSequence: 1,
  };
}
