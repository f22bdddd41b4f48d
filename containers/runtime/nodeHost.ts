import type { MemoryNeeds } from '../models/index.js';
import type { LaunchClass } from '../../simulator/scheduling/index.js';
import type { ContainerChannel } from '../protocol/index.js';
import type { GpuActivity } from './gpuActivity.js';
import type { GpuSpan } from './gpuHistory.js';
import type { NodeRoom } from './placement/index.js';
import type { VerdictReport } from './verdictReport.js';
import type { ContainerSource, ContainerStart } from './modelContainer.js';

/** A kernel model to start on a node. */
export type KernelModelStart = Omit<ContainerStart, 'container'> & {
  readonly path: string;
  /** Which of the node's GPUs. Default: the first. */
  readonly gpu?: number;
  /** What it takes of it: is held for it until it has given all back. Absent: nothing is held. */
  readonly memory?: MemoryNeeds;
  /** Of its launches. Default: `standard`. */
  readonly launchClass?: LaunchClass;
};

/** A kernel model's start on one of a node's GPUs, with what it takes of it; undefined where that is not known. */
export function onGpu(
  request: ContainerStart,
  { path, launchClass }: Extract<ContainerSource, { kind: 'kernelModel' }>,
  gpu: number | undefined,
  memory: MemoryNeeds | undefined,
): KernelModelStart {
  return {
    ...request,
    path,
    ...(gpu === undefined ? {} : { gpu }),
    ...(memory === undefined ? {} : { memory }),
    ...(launchClass === undefined ? {} : { launchClass }),
  };
}

/** What a node did so far; each number names its clock. */
export interface NodeReport {
  readonly node: string;
  /** Replicas that were started and not stopped or lost. */
  readonly replicas: number;
  /** Time with a batch in flight. */
  readonly busyHostSeconds: number;
  readonly busySimulatedSeconds: number;
  /** Host over simulated busy time; undefined before the first batch, and in virtual time. Above 1.2 no timing of the run counts. */
  readonly dilation: number | undefined;
  /** Of the host's time that `spans` cover, the part with a batch in flight; undefined where that is nobody's business. */
  readonly hostBusyShare: number | undefined;
  /** The largest host lateness of a simulated event. */
  readonly clockLagSeconds: number;
  readonly room: NodeRoom;
  /** Empty while nobody watches. On a node in a thread: as of its last sample, a quarter of a second old at most. */
  readonly gpus: readonly GpuActivity[];
  /** One for each GPU. On a node in a thread: of the last second or so; none before its first sample, and when it is dead. */
  readonly spans: readonly GpuSpan[];
  /** Undefined where launches are not judged: no scheduling policy kills them. */
  readonly verdicts?: VerdictReport;
}

/** Where a timeline goes, piece by piece. */
export interface TimelineSink {
  onText(text: string): void;
  /** The last call. @param failure why the text is not complete */
  onEnd(failure?: string): void;
}

/** Runs kernel models: a thread of its own, the present one on a virtual clock, or a process that is dialled. */
export interface NodeHost {
  readonly name: string;
  /** Whether it takes a new container of a kind, now. Absent: kernel models, always, and no others. */
  takes?(kind: ContainerSource['kind']): boolean;
  /** As `start`, of every kind that it takes. */
  startContainer?(request: ContainerStart): ContainerChannel;
  /** Never throws: a failed start is a `down` frame that says why. */
  start(request: KernelModelStart): ContainerChannel;
  report(): NodeReport;
  room(): NodeRoom;
  /** @param listener told when the node has more room than before */
  watchRoom(listener: () => void): void;
  /** Counts what the GPUs' SMs do, afresh; costs something only while `watched`. */
  watchGpus(watched: boolean): void;
  /**
   * Records what its GPUs do from here on, in Chrome's trace event format, until `stopRecording`.
   * @param limit characters after which it leaves events out. @returns whether it began, or why not
   */
  record(limit: number, sink: TimelineSink): 'begun' | 'recording' | 'down';
  stopRecording(): void;
  /** Calls back once no batch is in flight. */
  drain(done: () => void): void;
  /** Ends everything; calls back when nothing is left running. */
  close(done: () => void): void;
}
