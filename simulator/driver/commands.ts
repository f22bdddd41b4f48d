import type { BlockRange, Dim3, KernelFault, Sampler, TextureResource } from '../executor/index.js';
import type { LaunchClass } from '../scheduling/index.js';

/**
 * Driver commands are plain, serialisable records: an interposer can hold, inject, rewrite, answer, log or replay
 * them. Handles and device addresses are 64-bit by contract; device addresses are 47-bit and so exact as numbers.
 */
interface CommandBase {
  /** Chosen by the submitter, unique in its context; the completion carries it back. */
  readonly ticket: number;
  readonly context: number;
  /** 0 is the context's default stream. */
  readonly stream: number;
}

export type NumericsMode = 'ieee' | 'fast';

/** How a launch is placed and scheduled; every field has a default. */
export interface LaunchControls {
  /** Blocks of the grid to run, with %ctaid and %nctaid unchanged. Default: all. */
  readonly blocks?: BlockRange;
  /** TPCs allowed, one bit each, as a decimal string (a BigInt does not survive JSON). Default: all. */
  readonly tpcMask?: string;
  /** Higher runs first. Default 0. */
  readonly priority?: number;
  /** How much it may be made to wait. Default: its stream's, then its context's, then `standard`. */
  readonly launchClass?: LaunchClass;
  readonly numerics?: NumericsMode;
  /** Asks for a `blockDone` notice for each block. */
  readonly reportBlocks?: boolean;
}

/**
 * What stream 0 is. `perThread`, the default: a stream like the others. `legacy`: CUDA's null stream, which waits for
 * all blocking streams of its context, and they for it.
 */
export type DefaultStream = 'perThread' | 'legacy';

/** How far a capture forbids what it cannot see: `global` and `threadLocal` forbid it in the context, `relaxed` does not. */
export type CaptureMode = 'global' | 'threadLocal' | 'relaxed';

export type DriverCommand =
  | (CommandBase & {
      readonly op: 'contextCreate';
      readonly args: {
        readonly gpu: number;
        readonly defaultStream?: DefaultStream;
        /**
         * Part of the GPU's SMs that its launches may use, in percent, above 0 to 100, as MPS gives it; only where contexts are
         * side by side. Default: all.
         */
        readonly activeThreadPercentage?: number;
        /** How long its turns are, 1e5 to 1e9; only where contexts take turns. Default: the card's. */
        readonly timeSliceNs?: number;
        /** Of launches that name none themselves, nor their stream. */
        readonly launchClass?: LaunchClass | undefined;
      };
    })
  | (CommandBase & { readonly op: 'contextDestroy'; readonly args: Record<string, never> })
  | (CommandBase & {
      readonly op: 'streamCreate';
      /** Priorities outside the card's range are taken as the nearest in it; higher runs first. */
      readonly args: {
        readonly priority: number;
        readonly nonBlocking?: boolean;
        /** Of launches that name none themselves. */
        readonly launchClass?: LaunchClass;
      };
    })
  | (CommandBase & { readonly op: 'streamDestroy'; readonly args: Record<string, never> })
  | (CommandBase & {
      readonly op: 'moduleLoad';
      readonly args: { readonly ptx: string; readonly file: string };
    })
  | (CommandBase & { readonly op: 'malloc'; readonly args: { readonly bytes: number } })
  | (CommandBase & { readonly op: 'free'; readonly args: { readonly address: number } })
  /** `handle`: a texture object, or a surface object where no sampler is given; kernels take it as a parameter of 64 bits. */
  | (CommandBase & {
      readonly op: 'objectCreate';
      readonly args: { readonly resource: TextureResource; readonly sampler?: Sampler | undefined };
    })
  /** Acts once all of its context before it is over. */
  | (CommandBase & { readonly op: 'objectDestroy'; readonly args: { readonly object: number } })
  | (CommandBase & {
      readonly op: 'memcpyHostToDevice';
      readonly args: {
        readonly address: number;
        readonly bytes: Uint8Array;
        readonly pinned: boolean;
        /** Bytes that count for time, where `bytes` are not all there (timing without contents). Default: all of `bytes`. */
        readonly declaredBytes?: number;
      };
    })
  | (CommandBase & {
      readonly op: 'memcpyDeviceToHost';
      readonly args: { readonly address: number; readonly bytes: number; readonly pinned: boolean };
    })
  | (CommandBase & {
      readonly op: 'memcpyDeviceToDevice';
      readonly args: { readonly destination: number; readonly source: number; readonly bytes: number };
    })
  | (CommandBase & {
      readonly op: 'memcpyPeer';
      readonly args: {
        readonly destinationContext: number;
        readonly destination: number;
        readonly source: number;
        readonly bytes: number;
      };
    })
  | (CommandBase & {
      readonly op: 'memset';
      readonly args: { readonly address: number; readonly value: number; readonly bytes: number };
    })
  | (CommandBase & {
      readonly op: 'launch';
      readonly args: {
        readonly module: number;
        readonly kernel: string;
        readonly grid: Dim3;
        readonly block: Dim3;
        readonly dynamicSharedBytes: number;
        /** Argument bytes as the kernel's parameter space lays them out. */
        readonly params: Uint8Array;
        /** All blocks are on the device together and may wait for one another (`grid.sync`). Default: false. */
        readonly cooperative?: boolean;
        /** Blocks of a cluster in x, y, z; they divide the grid. Default: as the kernel says (`.reqnctapercluster`), else none. */
        readonly cluster?: Dim3 | undefined;
        /** More blocks a cluster than every card can run. Default: false. */
        readonly nonPortableCluster?: boolean;
        readonly controls?: LaunchControls;
      };
    })
  /** Stream-ordered: the address is there at once. */
  | (CommandBase & { readonly op: 'mallocAsync'; readonly args: { readonly bytes: number } })
  /** Stream-ordered: what the stream got before it may still use the memory. */
  | (CommandBase & { readonly op: 'freeAsync'; readonly args: { readonly address: number } })
  /** An event that takes a time stamp (`timing`, by default). An event that nobody created takes none, and no time. */
  | (CommandBase & {
      readonly op: 'eventCreate';
      readonly args: { readonly event: number; readonly timing?: boolean };
    })
  /** Waits that are under way stay good. */
  | (CommandBase & { readonly op: 'eventDestroy'; readonly args: { readonly event: number } })
  | (CommandBase & { readonly op: 'eventRecord'; readonly args: { readonly event: number } })
  /** Waits for the event's latest record so far. `eventContext`: whose event it is; default: the command's context. */
  | (CommandBase & {
      readonly op: 'eventWait';
      readonly args: { readonly event: number; readonly eventContext?: number };
    })
  /** `ready`: whether the event's latest record has happened. */
  | (CommandBase & { readonly op: 'eventQuery'; readonly args: { readonly event: number } })
  /** Completes when the event's latest record has happened and the host knows. */
  | (CommandBase & { readonly op: 'eventSynchronize'; readonly args: { readonly event: number } })
  | (CommandBase & {
      readonly op: 'eventElapsed';
      readonly args: { readonly start: number; readonly end: number };
    })
  /** `ready`: whether the stream has nothing left to do. */
  | (CommandBase & { readonly op: 'streamQuery'; readonly args: Record<string, never> })
  /** Completes when everything submitted to the stream before it has completed, and the host knows. */
  | (CommandBase & { readonly op: 'streamSynchronize'; readonly args: Record<string, never> })
  /** A function of the host, in the stream's order: takes `hostNs` of a host core, then completes; then the stream goes on. */
  | (CommandBase & { readonly op: 'hostFunction'; readonly args: { readonly hostNs: number } })
  | (CommandBase & { readonly op: 'streamBeginCapture'; readonly args: { readonly mode: CaptureMode } })
  /** `handle`: the graph. */
  | (CommandBase & { readonly op: 'streamEndCapture'; readonly args: Record<string, never> })
  | (CommandBase & { readonly op: 'streamCaptureStatus'; readonly args: Record<string, never> })
  | (CommandBase & { readonly op: 'graphCreate'; readonly args: Record<string, never> })
  /** `handle`: the node's number, from 0. `after`: numbers of the nodes that come before it. */
  | (CommandBase & {
      readonly op: 'graphAddNode';
      readonly args: {
        readonly graph: number;
        readonly after: readonly number[];
        readonly node: GraphCommand;
      };
    })
  | (CommandBase & { readonly op: 'graphDestroy'; readonly args: { readonly graph: number } })
  | (CommandBase & { readonly op: 'graphInstantiate'; readonly args: { readonly graph: number } })
  /** Launches that are under way keep the node as it was. */
  | (CommandBase & {
      readonly op: 'graphExecUpdateNode';
      readonly args: { readonly exec: number; readonly index: number; readonly node: GraphCommand };
    })
  | (CommandBase & { readonly op: 'graphExecDestroy'; readonly args: { readonly exec: number } })
  | (CommandBase & { readonly op: 'graphLaunch'; readonly args: { readonly exec: number } });

export type DriverOp = DriverCommand['op'];

/** What a node of a graph may be. */
export const GRAPH_OPS = [
  'launch',
  'memcpyHostToDevice',
  'memcpyDeviceToHost',
  'memcpyDeviceToDevice',
  'memcpyPeer',
  'memset',
  'hostFunction',
] as const satisfies readonly DriverOp[];
export type GraphOp = (typeof GRAPH_OPS)[number];

/** A command without what the graph's launch gives it. */
export type GraphCommand = {
  readonly [O in GraphOp]: Pick<Extract<DriverCommand, { op: O }>, 'op' | 'args'>;
}[GraphOp];

export type DriverErrorCode =
  | 'invalidValue'
  | 'invalidContext'
  | 'invalidStream'
  | 'invalidHandle'
  | 'invalidLaunch'
  | 'invalidModule'
  | 'outOfDeviceMemory'
  | 'outOfBackingMemory'
  | 'notFound'
  | 'kernelFault'
  /** What is asked for is not done yet. */
  | 'notReady'
  /** As CUDA names them: what a stream's capture forbids. */
  | 'streamCaptureUnsupported'
  | 'streamCaptureInvalidated'
  | 'streamCaptureMerge'
  | 'streamCaptureUnmatched'
  | 'streamCaptureUnjoined'
  | 'streamCaptureIsolation'
  | 'streamCaptureImplicit'
  | 'capturedEvent'
  | 'graphExecUpdateFailure'
  /** An earlier kernel fault killed this context; it must be destroyed. */
  | 'contextFaulted';

export interface DriverFailure {
  readonly code: DriverErrorCode;
  readonly message: string;
  readonly fault?: KernelFault;
}

/** A variable of a loaded module that copies can reach. */
export interface ModuleSymbol {
  readonly name: string;
  readonly space: 'global' | 'const';
  readonly address: number;
  readonly bytes: number;
}

/** What a command gave back: a handle (context, stream, module, graph), an address (malloc) or bytes (device to host). */
export interface DriverResult {
  readonly handle?: number;
  /** Of `streamCreate`: as the card takes it. */
  readonly priority?: number;
  readonly ready?: boolean;
  /** Of `eventElapsed`, in milliseconds and with a float's precision, as CUDA gives it. */
  readonly elapsedMs?: number;
  readonly capture?: 'none' | 'active' | 'invalidated';
  /** Of `graphLaunch`: what its nodes gave back, those that did. */
  readonly nodes?: readonly GraphNodeResult[];
  /** Of `moduleLoad`: the module's variables, in their order. */
  readonly symbols?: readonly ModuleSymbol[];
  readonly address?: number;
  readonly bytes?: Uint8Array;
  readonly launch?: LaunchReport;
}

export interface GraphNodeResult {
  readonly node: number;
  readonly result: DriverResult;
}

/** What a finished launch did and how long the simulated device took. */
export interface LaunchReport {
  readonly kernel: string;
  readonly startNs: number;
  readonly endNs: number;
  readonly threadInstructions: number;
  readonly warpInstructions: number;
  readonly dramBytes: number;
  /** What the whole card took between start and end. */
  readonly energyMillijoules: number;
  /** Host seconds spent in functional execution. */
  readonly executorSeconds: number;
  /** What the kernel's `printf` calls and failed assertions wrote, the last 1 MiB of it; a faulted launch tells too. */
  readonly printed?: string | undefined;
  /** How often the scheduling policy killed it before it came to its end; absent: never. */
  readonly kills?: number | undefined;
  /** How often it ran, where faults struck it; absent: once. Times are from the first start to the last end, saving included. */
  readonly runs?: number | undefined;
  /** Bytes that were saved before it. */
  readonly savedBytes?: number | undefined;
}

export interface DriverCompletion {
  readonly ticket: number;
  readonly context: number;
  readonly stream: number;
  readonly op: DriverOp;
  /** Simulated time of completion. */
  readonly timeNs: number;
  readonly result?: DriverResult | undefined;
  readonly failure?: DriverFailure | undefined;
}

/** One block of a launch that asked for `reportBlocks`. */
export interface BlockNotice {
  readonly ticket: number;
  readonly context: number;
  readonly stream: number;
  /** Linear index in the grid. */
  readonly block: number;
  readonly sm: number;
  readonly startNs: number;
  readonly endNs: number;
}

export interface CompletionSink {
  onCompletion(completion: DriverCompletion): void;
  onBlockDone?(notice: BlockNotice): void;
}

/** Where commands go in: the device itself, or an interposer standing in front of it. */
export interface CommandSink {
  /** Never throws: every refusal is a completion with a failure. */
  submit(command: DriverCommand, sink: CompletionSink): void;
}

/** Stands between submitters and the device: passes, holds, injects, rewrites or answers commands; sees completions. */
export interface Interposer {
  onCommand(command: DriverCommand, next: CommandSink, sink: CompletionSink): void;
}
