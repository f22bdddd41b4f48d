import type { DriverFailure, DriverOp, DriverCommand, GraphNodeResult } from './commands.js';
import type { CaptureMode, DefaultStream, GraphCommand } from './commands.js';
import type { LaunchRequest } from '../gpu/index.js';
import type { LaunchClass, LaunchVerdict } from '../scheduling/index.js';
import type { ModuleMemory } from './contextMemory.js';
import type { FaultTotals, MemoryRegions } from '../faults/index.js';
import type { Footprint } from './footprint.js';

/** Plain data. */
export interface JudgedLaunch {
  readonly verdict: LaunchVerdict;
  readonly footprint: Footprint;
}

/** Regions of device memory and where their copy lies, in the context's space for such copies. Plain data. */
export interface SavedRegions extends MemoryRegions {
  readonly address: number;
  readonly bytes: number;
}

/** A launch where faults strike or are recovered from, from its start to its end. Plain data. */
export interface RecoveredLaunch {
  /** What the device does for it; `struck`: nothing, until the host has heard of the fault. */
  step: 'saving' | 'running' | 'struck' | 'restoring';
  readonly startNs: number;
  /** When the step began. */
  sinceNs: number;
  /** Runs so far. */
  runs: number;
  saved?: SavedRegions;
  /** Why a fault would end its context. */
  unprotected?: string | undefined;
  /** For its first run. */
  gridWorkspace?: number | undefined;
}

/** A command between its submission and its completion. Plain data. */
export interface PendingCommand {
  readonly sequence: number;
  readonly command: DriverCommand;
  /** Name of the sink that gets its completion; a graph's node has none. */
  readonly sink: string;
  /** Context that answers for it; a `contextCreate` has none. */
  readonly context: number;
  phase: 'submitting' | 'queued' | 'waiting' | 'running';
  /** Commands of other streams that must be over before it may start. */
  blockers: number;
  /** A launch as it was checked when it arrived; equal ones may share it, and its own terms are known when it starts. */
  request?: LaunchRequest | undefined;
  /** A launch whose memory and verdict were found when it was submitted. */
  judged?: JudgedLaunch | undefined;
  /** A launch before which memory is to be saved: which. */
  saves?: MemoryRegions;
  usesHeap?: boolean;
  /** Something that touches the same memory was under way with it. */
  overlaps?: boolean;
  recovery?: RecoveredLaunch;
  /** A node of a graph that runs: the graph's launch, and which node. */
  readonly node?: { readonly run: number; readonly index: number; readonly isFirst: boolean } | undefined;
  /** A graph's launch that runs. */
  run?: GraphRunState | undefined;
}

/** What ran last in a stream or a graph, and until when: what comes right behind it pays less, or more. */
export interface Predecessor {
  lastOp?: DriverOp;
  lastEndNs: number;
}

export interface StreamState extends Predecessor {
  readonly id: number;
  readonly priority: number;
  /** Of launches that name none; undefined: the context's. */
  readonly launchClass?: LaunchClass | undefined;
  /** Takes no part in what the legacy default stream waits for. */
  readonly nonBlocking: boolean;
  /** Sequences of commands, oldest first; the first one runs. */
  readonly queue: number[];
  /** The stream whose capture it takes part in. */
  capture?: number;
}

export interface EventState {
  readonly timing: boolean;
  /** Sequence of its latest record; 0: never recorded. */
  record: number;
  /** When that happened, if it has a time stamp and has happened. */
  recordedNs?: number;
  /** Recorded last in a stream that was capturing: the capture, and the nodes that come before the event. */
  captured?: { readonly capture: number; readonly after: readonly number[] };
}

export interface GraphNodeState {
  readonly command: GraphCommand;
  /** Numbers of the nodes that come before it, all lower than its own. */
  readonly after: readonly number[];
}

export interface GraphExecState {
  nodes: readonly GraphNodeState[];
  /** Its latest launch: launches of one instance run one after another. */
  lastLaunch: number;
  /** Whether the device has its nodes: the first launch brings them. */
  uploaded: boolean;
}

/** A launch of a graph between its first node's start and its last one's end. */
export interface GraphRunState extends Predecessor {
  left: number;
  /** Of nodes in flight, by their numbers. */
  readonly sequences: number[];
  readonly results: GraphNodeResult[];
  failure?: DriverFailure;
}

/** A capture in progress, by its origin stream. */
export interface CaptureState {
  readonly origin: number;
  readonly mode: CaptureMode;
  readonly nodes: GraphNodeState[];
  /** By stream that takes part: the nodes that its next command comes behind. */
  readonly tails: Map<number, readonly number[]>;
  /** Why it can give no graph. */
  invalidated?: string;
}

export interface ModuleState {
  readonly handle: number;
  readonly identity: string;
  readonly ptx: string;
  readonly file: string;
  readonly symbols: ReadonlyMap<string, number>;
  readonly memory: ModuleMemory;
}

export interface ContextState {
  readonly id: number;
  readonly gpu: number;
  /** Identity of its address space in the node's memory. */
  readonly space: number;
  /** The same of the one that holds copies of saved memory, once there are any. */
  saveSpace?: number;
  readonly defaultStream: DefaultStream;
  /** Of launches whose stream names none. */
  readonly launchClass?: LaunchClass | undefined;
  readonly streams: Map<number, StreamState>;
  readonly events: Map<number, EventState>;
  readonly modules: Map<number, ModuleState>;
  readonly graphs: Map<number, GraphNodeState[]>;
  readonly graphExecs: Map<number, GraphExecState>;
  readonly captures: Map<number, CaptureState>;
  /** Bytes by address of its allocations. */
  readonly allocations: Map<number, number>;
  /** Bytes that the context itself takes, and its modules with their heap: no allocation of the user's. */
  ownBytes: number;
  /** Sequences of its commands in flight. */
  readonly inFlight: Set<number>;
  /** Frees and destroys that wait for everything before them. */
  readonly barriers: number[];
  /** Launches whose verdicts are kept, by hash, oldest first. */
  readonly judged: Set<number>;
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
  /** Commands that wait for a command of another stream, by its sequence. */
  readonly dependents: Map<number, number[]>;
  /** Where launches are judged: what started commands may touch, by their sequence. */
  readonly underWay: Map<number, readonly Footprint[]>;
  /** Launches that were killed and have not completed. */
  readonly killed: Set<number>;
  /** Where faults strike or are recovered from: launches that have run on each GPU, and its totals. */
  recovery?: { readonly launched: number[]; readonly totals: FaultTotals[] };
  /** Bytes taken on each GPU, against its declared memory: contexts, modules and allocations. */
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
    dependents: new Map(),
    underWay: new Map(),
    killed: new Set(),
    usedBytes: Array.from({ length: gpus }, () => 0),
    nextHandle: 1,
    nextSequence: 1,
  };
}
