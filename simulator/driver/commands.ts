import type { BlockRange, Dim3, KernelFault } from '../executor/index.js';

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
  readonly numerics?: NumericsMode;
  /** Asks for a `blockDone` notice for each block. */
  readonly reportBlocks?: boolean;
}

export type DriverCommand =
  | (CommandBase & { readonly op: 'contextCreate'; readonly args: { readonly gpu: number } })
  | (CommandBase & { readonly op: 'contextDestroy'; readonly args: Record<string, never> })
  | (CommandBase & { readonly op: 'streamCreate'; readonly args: { readonly priority: number } })
  | (CommandBase & { readonly op: 'streamDestroy'; readonly args: Record<string, never> })
  | (CommandBase & {
      readonly op: 'moduleLoad';
      readonly args: { readonly ptx: string; readonly file: string };
    })
  | (CommandBase & { readonly op: 'malloc'; readonly args: { readonly bytes: number } })
  | (CommandBase & { readonly op: 'free'; readonly args: { readonly address: number } })
  | (CommandBase & {
      readonly op: 'memcpyHostToDevice';
      readonly args: { readonly address: number; readonly bytes: Uint8Array; readonly pinned: boolean };
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
        readonly controls?: LaunchControls;
      };
    })
  | (CommandBase & { readonly op: 'eventRecord'; readonly args: { readonly event: number } })
  | (CommandBase & { readonly op: 'eventWait'; readonly args: { readonly event: number } })
  /** Completes when everything submitted to the stream before it has completed. */
  | (CommandBase & { readonly op: 'streamSynchronize'; readonly args: Record<string, never> });

export type DriverOp = DriverCommand['op'];

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

/** What a command gave back: a handle (context, stream, module), an address (malloc) or bytes (device to host). */
export interface DriverResult {
  readonly handle?: number;
  /** Of `moduleLoad`: the module's variables, in their order. */
  readonly symbols?: readonly ModuleSymbol[];
  readonly address?: number;
  readonly bytes?: Uint8Array;
  readonly launch?: LaunchReport;
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
  readonly printed?: string;
}

export interface DriverCompletion {
  readonly ticket: number;
  readonly context: number;
  readonly stream: number;
  readonly op: DriverOp;
  /** Simulated time of completion. */
  readonly timeNs: number;
  readonly result?: DriverResult;
  readonly failure?: DriverFailure;
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
