import type { IrFunction, IrModule } from '../ptx/index.js';

/** Extents in x, y, z. */
export type Dim3 = readonly [number, number, number];

/** What one launch asks of a kernel, apart from its arguments. */
export interface LaunchShape {
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly dynamicSharedBytes: number;
  /** Blocks of a cluster, where the launch or the kernel says so: it divides the grid. Without it each block is a cluster. */
  readonly cluster?: Dim3 | undefined;
  /** A cluster may have more blocks than every card that has clusters can run. */
  readonly nonPortableCluster?: boolean | undefined;
}

/** Blocks `[lo, hi)` of a grid in linear order (x fastest). */
export interface BlockRange {
  readonly lo: number;
  readonly hi: number;
}

/**
 * How a kernel is compiled and run. `fast` only computes; `observed` also traces every global access, `undoable` of them those
 * that change memory, which is all that taking them back needs; `resumable` keeps explicit state a warp and can yield.
 */
export type ExecutorVariant = 'fast' | 'observed' | 'undoable' | 'resumable';

export type Permission = 'read' | 'readWrite';

/**
 * One mapped piece of a context's address space on one GPU. `virtualAddress` is a 47-bit device address (exact in a JS
 * number); `offset` is where its bytes lie in the node's WebAssembly memory, or -1 when nothing backs it.
 */
export interface Segment {
  readonly virtualAddress: number;
  /** All that is mapped. */
  readonly bytes: number;
  /** What was asked for: more is mapped where memory comes in whole pages. */
  readonly askedBytes: number;
  readonly offset: number;
  readonly permission: Permission;
  /** A watched segment is never cached by compiled code: each access calls out. */
  readonly watched: boolean;
}

/** A context's view of device memory on one GPU: address → (offset, bytes, permissions, watch). */
export interface AddressSpace {
  /** Maps backing of `bytes` bytes (zeroed) at a fresh virtual address, aligned to 256 bytes. */
  map(bytes: number, permission: Permission): Segment;
  /** @throws MemoryError `unmapped` when no segment starts there. */
  unmap(virtualAddress: number): void;
  /** The segment that holds this address, or undefined. */
  find(virtualAddress: number): Segment | undefined;
  segments(): readonly Segment[];
  /** Another number whenever a segment has come or gone. */
  readonly mapping: number;
  /** What `malloc` and `free` of kernels use: one segment, mapped when it is first asked for, kept with the context. */
  openHeap(): DeviceHeap;
  /** Live view of mapped bytes. @throws MemoryError `outOfBounds` when the range is not inside one segment. */
  view(virtualAddress: number, bytes: number): Uint8Array;
}

/** The heap of a context that kernels allocate from (8 MiB). */
export interface DeviceHeap {
  readonly address: number;
  readonly bytes: number;
  /** @returns the address of a new chunk, aligned to 16, or 0 when there is no room. */
  malloc(bytes: number): number;
  /** @returns false when no live chunk starts there. */
  release(address: number): boolean;
  /** The live chunk that starts at an address. */
  chunkAt(address: number): { readonly address: number; readonly bytes: number } | undefined;
  /** Live chunks by ascending address. */
  allocations(): readonly { readonly address: number; readonly bytes: number }[];
  /** @returns what puts the heap's records back as they are now. */
  mark(): () => void;
}

/** A module placed in a context: its code with its `.global` variables mapped and initialised. */
export interface LoadedModule {
  /** The module lowered; kernels to launch are taken from here. */
  readonly ir: IrModule;
  readonly space: AddressSpace;
  /** Device address of each module-scope variable, by name. */
  readonly symbols: ReadonlyMap<string, number>;
}

export interface ExecutorLaunch {
  readonly module: LoadedModule;
  readonly kernel: IrFunction;
  readonly shape: LaunchShape;
  /** Argument bytes at the offsets of the kernel's parameter space. */
  readonly params: Uint8Array;
  /** Cooperative launch: all blocks are resident together and may wait for one another (`grid.sync`). */
  readonly cooperative?: boolean | undefined;
  /** What clocks and SM numbers read; without it simulated time is 0 and the SM is 0 of 1. */
  readonly place?: LaunchPlace;
  /** Device address of at least 32 zeroed bytes where the blocks of a cooperative launch meet (`%envreg1`, `%envreg2`). */
  readonly gridWorkspace?: number | undefined;
}

/** When and where blocks run, for the kernels that ask (`%clock64`, `%globaltimer`, `%smid`). */
export interface LaunchPlace {
  readonly startNs: number;
  readonly cyclesPerNs: number;
  readonly sm: number;
  readonly smCount: number;
  /** SM of each block, from the range's first on; without it all run on `sm`. */
  readonly sms?: readonly number[];
  /** Number of the launch in its context (`%gridid`). */
  readonly gridId?: number;
}

/** What was executed, counted as PTX. Warp counts assume lanes that take the same path issue together. */
export interface ExecutionCounters {
  threadInstructions: number;
  warpInstructions: number;
  /** Warp instructions by class; they add up to `warpInstructions`. */
  byClass: Record<InstructionClass, number>;
  /** Bytes that threads asked for, by space, before coalescing. */
  globalLoadBytes: number;
  globalStoreBytes: number;
  sharedBytes: number;
  blocks: number;
}

/** How often each instruction of a kernel was executed, by its place in the kernel; warps as in ExecutionCounters. */
export interface InstructionCounts {
  readonly threads: Float64Array;
  readonly warps: Float64Array;
}

export type InstructionClass =
  | 'integer'
  | 'float32'
  | 'float64'
  | 'special'
  | 'convert'
  | 'control'
  | 'globalLoad'
  | 'globalStore'
  | 'shared'
  | 'local'
  | 'constant'
  | 'atomic'
  | 'barrier'
  | 'warp';

export type FaultCode =
  | 'illegalAddress'
  | 'misalignedAddress'
  | 'writeToReadOnly'
  | 'sharedOutOfBounds'
  | 'localOutOfBounds'
  /** Of shared memory in a cluster, whose block has ended or is none of it. */
  | 'clusterBlockNotPresent'
  | 'divergentBarrier'
  | 'fuelExhausted'
  | 'trap'
  | 'assertion'
  | 'illegalInstruction'
  | 'stackOverflow'
  | 'deadlock'
  | 'unsupportedInstruction'
  /** Of no instruction: the device failed, and the launch may go well when it runs again. */
  | 'transientFault';

/** Where and why a kernel stopped: kernel, block, thread and PTX line, and the address for a memory fault. */
export interface KernelFault {
  readonly code: FaultCode;
  readonly kernel: string;
  readonly message: string;
  readonly block: Dim3;
  readonly thread: Dim3;
  readonly ptxFile: string;
  readonly ptxLine: number;
  readonly address?: number;
}

interface RunOutcome {
  /** Of this call alone: a resumed run counts what it did since it was resumed. */
  readonly counters: ExecutionCounters;
  /** What the kernel's `printf` calls wrote, in the order in which they ran. */
  readonly printed?: string;
  /** Of the *observed* and *undoable* variants: accesses to global memory, faults and yields included. */
  readonly journal?: AccessJournal;
}

export type RunResult =
  | (RunOutcome & { readonly status: 'done' })
  | (RunOutcome & { readonly status: 'fault'; readonly fault: KernelFault })
  /** Of the *resumable* variant: stopped between two instructions of each warp; `resume` goes on from there. */
  | (RunOutcome & { readonly status: 'yield'; readonly suspended: SuspendedRun });

/**
 * Blocks in flight, with everything that their warps hold. Belongs to the executor that made it; used once. It lives
 * outside the node's memory: other launches may run meanwhile, and a snapshot or fork of the node holds none.
 */
export interface SuspendedRun {
  readonly launch: ExecutorLaunch;
  readonly range: BlockRange;
}

/**
 * What a run did to global memory. A *position* counts the thread-instructions that the run had executed: an access at
 * position p is the p-th of them (from 0), so that a kill after p instructions is `rollBack(p)`.
 */
export interface AccessJournal {
  readonly length: number;
  /** Thread-instructions of the whole run. */
  readonly positions: number;
  at(index: number): JournalEntry;
  /** Undoes, last first, every store and atomic at a position ≥ `position`. A journal can be rolled back further, never forward. */
  rollBack(position: number): void;
  /** What it would undo, as plain data (`takeBackStores`). */
  stores?(): StoreLog;
}

/** What a run stored, with what was there before: enough to take it back. Plain data, in the order of execution. */
export interface StoreLog {
  /** Thread-instructions of the whole run; positions are counted as in AccessJournal. */
  readonly positions: number;
  /** Position of each store or atomic. */
  readonly at: Float64Array;
  readonly addresses: Float64Array;
  /** Where in `old` its bytes end; they begin where those of the one before it do. */
  readonly ends: Uint32Array;
  readonly old: Uint8Array;
}

export interface JournalEntry {
  readonly position: number;
  readonly kind: 'load' | 'store' | 'atomic';
  readonly address: number;
  readonly bytes: number;
  /** Index of the instruction in the kernel. */
  readonly instruction: number;
  /** What the bytes were before a store or atomic. */
  readonly old?: Uint8Array;
}

/** Memory behaviour of sampled blocks, from which the timing model takes its traffic. */
export interface AccessProfile {
  readonly sampledBlocks: number;
  /** Per static global access site. */
  readonly sites: readonly AccessSite[];
  /** Shared-memory accesses: warp requests, and the cycles that bank conflicts make of them. */
  readonly sharedRequests: number;
  readonly sharedWavefronts: number;
}

export interface AccessSite {
  readonly ptxLine: number;
  readonly kind: 'load' | 'store' | 'atomic';
  readonly bytesPerThread: number;
  /** Warp-level requests in the sample and the 32-byte sectors that they touched. */
  readonly requests: number;
  readonly sectors: number;
  /** Distinct sectors within the sampled block(s): what a perfect L1 would fetch. */
  readonly distinctSectors: number;
}

/** Runs kernels functionally. One executor serves one node's memory. */
export interface Executor {
  /**
   * Runs blocks of a launch to their end, in order; the *resumable* variant yields where a kernel waits for others (spins,
   * `nanosleep`) and whenever a block has used up its `fuel`. A kernel whose threads wait for one another through memory
   * runs interleaved under every variant, so that it ends as it does on a card. `fuel` bounds PTX thread-instructions a block; every loop
   * back-edge spends it, so an endless kernel ends in `fuelExhausted` and not in a hang.
   */
  run(launch: ExecutorLaunch, range: BlockRange, variant: ExecutorVariant, fuel: number): RunResult;

  /**
   * Goes on with a run that yielded. `fuel` bounds each block from here on.
   * @throws ExecutorError when it has been resumed before or its launch's memory is gone.
   */
  resume?(suspended: SuspendedRun, fuel: number): RunResult;

  /** Ends what the executor holds of the host; it can go on, more slowly. */
  close?(): void;

  /**
   * Whether blocks of this launch may wait for one another, so that `run` must be given all of them at once: a cooperative
   * launch whose kernel spins on memory.
   */
  needsWholeGrid?(launch: ExecutorLaunch): boolean;

  /** Traces `blocks` (linear indices) of a launch without changing memory that later work can see. */
  profile(launch: ExecutorLaunch, blocks: readonly number[]): AccessProfile;

  /**
   * Runs `blocks` one after another, warp by warp, without changing memory that later work can see, and tells the sink
   * every warp instruction. Ends early, between two instructions, once `sink.full` is true. A fault ends it silently:
   * the launch itself will report it.
   */
  trace?(launch: ExecutorLaunch, blocks: readonly number[], sink: TraceSink): void;
}

/** Sees a block as its warps execute it. Lanes that take the same path issue together. */
export interface TraceSink {
  /** True once the sink has seen enough. */
  readonly full: boolean;
  /** True once it has seen enough of the block that started last: the next one follows at once. */
  readonly hasBlock?: boolean;
  /** Steps of a warp before the next has its turn; 32 unless told. */
  readonly turn?: number;
  /** A block starts; `block` is its linear index in the grid. */
  onBlock(block: number): void;
  /**
   * Warp `warp` of the block executes instruction `index` of the kernel for the lanes of `activeMask` (guard applied;
   * an instruction whose lanes are all guarded off is told with mask 0). `lanes` are all that came to it.
   */
  onInstruction(warp: number, index: number, activeMask: number, lanes: number): void;
  /** The branch told just before sends its lanes two ways or more. */
  onDivergence?(warp: number, index: number): void;
  /** Barrier `id` of block `block` opens. */
  onBarrierOpen?(block: number, id: number): void;
  /**
   * The memory access of the instruction told just before. `addresses` holds a device address (global) or an offset in
   * the block's shared memory (shared) for each active lane; it is reused between calls.
   */
  onAccess(
    warp: number,
    index: number,
    space: 'global' | 'shared',
    kind: 'load' | 'store' | 'atomic',
    bytesPerLane: number,
    activeMask: number,
    addresses: Float64Array,
  ): void;
  /**
   * In place of `onAccess`, if it is there, where lanes access the shared memory of other blocks of their cluster; the addresses are
   * offsets in those.
   */
  onRemoteAccess?(
    warp: number,
    index: number,
    kind: 'load' | 'store' | 'atomic',
    bytesPerLane: number,
    activeMask: number,
    addresses: Float64Array,
  ): void;
  /** An access to local memory: `offsets` are each active lane's own, from the start of its thread's. */
  onLocalAccess?(
    warp: number,
    index: number,
    kind: 'load' | 'store',
    bytesPerLane: number,
    activeMask: number,
    offsets: Float64Array,
  ): void;
}
