import type { Dim3, InstructionClass, KernelFault } from '../executor/index.js';
import type { OccupancyLimit } from '../gpu/index.js';
import type { Counts, Metric } from './metrics.js';

/** How much of a launch was traced, and so which counts are exact. */
export interface Coverage {
  /**
   * `all`: every block was traced, every count is exact. `sample`: some blocks were traced, all ran; thread-instructions are
   * exact, all else is scaled to them line by line. `part`: the trace ended early; counts are of what ran until then.
   * `sampleOnly`: only the sampled blocks ran, and all is scaled by the number of blocks.
   */
  readonly kind: 'all' | 'sample' | 'part' | 'sampleOnly';
  readonly endedBy?: 'fault' | 'budget';
  readonly gridBlocks: number;
  readonly tracedBlocks: number;
  /** Traced blocks of which only the first thread-instructions were followed, because the budget was used up. */
  readonly cutBlocks: number;
  /** Blocks that ran to their end or to the fault. */
  readonly ranBlocks: number;
  readonly tracedThreadInstructions: number;
  readonly seed?: number;
}

/** What is only known of traced blocks and not scaled. */
export interface TracedOnly {
  /** Distinct sectors of global memory that were touched, over all traced blocks. */
  readonly distinctSectors: number;
  /** The most global atomics on one address. */
  readonly hottestAddress: number;
}

export interface ProfiledLine {
  readonly line: number;
  readonly text: string;
  readonly sourceFile?: string;
  readonly sourceLine?: number;
  readonly classes: readonly InstructionClass[];
  /** Metrics that are not 0. */
  readonly counts: Readonly<Partial<Record<Metric, number>>>;
  readonly traced: TracedOnly;
  /** It ran, but in no traced block: only thread-instructions and warp instructions are known. */
  readonly isUnseen?: true;
}

export interface ProfiledSourceLine {
  readonly file: string;
  readonly line: number;
  /** Where the file lies beside the PTX. */
  readonly text?: string;
  readonly counts: Readonly<Partial<Record<Metric, number>>>;
  readonly traced: TracedOnly;
  readonly ptxLines: readonly number[];
}

export interface LaunchOccupancy {
  /** Estimated: the card's assembler decides. */
  readonly registersPerThread: number;
  readonly staticSharedBytes: number;
  readonly dynamicSharedBytes: number;
  readonly warpsPerBlock: number;
  readonly blocksPerSm: number;
  readonly warpsPerSm: number;
  /** Resident warps over the most that an SM holds. */
  readonly share: number;
  /** Limits that let no further block in. */
  readonly boundBy: readonly OccupancyLimit[];
  readonly limits: Readonly<Record<OccupancyLimit, number>>;
  readonly sms: number;
  /** Grid blocks over the blocks that the device holds at once. */
  readonly waves: number;
}

export interface LaunchProfile {
  /** The spec that it is of, as it was named. */
  readonly spec: string;
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly dynamicSharedBytes: number;
  readonly device: string;
  readonly coverage: Coverage;
  /** Simulated, with caches warm from an equal launch before; absent where it was not asked for or the launch faulted. */
  readonly gpuTimeUs?: number;
  readonly dramBytes?: number;
  readonly occupancy: LaunchOccupancy;
  readonly totals: Counts;
  /** Barriers that opened in traced blocks. */
  readonly barriersOpened: number;
  readonly fault?: KernelFault;
  readonly printed?: string;
}

/** All launches of one kernel, by lines. */
export interface KernelProfile {
  readonly kernel: string;
  readonly ptxFile: string;
  readonly launches: readonly LaunchProfile[];
  readonly totals: Counts;
  /** Warp instructions by class. */
  readonly mix: Readonly<Partial<Record<InstructionClass, number>>>;
  /** Every line that holds an instruction of the kernel, in the order of the text. */
  readonly lines: readonly ProfiledLine[];
  /** Empty where the PTX has no `.loc` lines. */
  readonly sourceLines: readonly ProfiledSourceLine[];
  readonly notes: readonly string[];
}

/** The texts that a kernel's lines are of. */
export interface KernelListing {
  readonly ptx: readonly string[];
  /** Those that lie beside the PTX. */
  readonly sources: readonly { readonly file: string; readonly lines: readonly string[] }[];
}

export interface ProfileReport {
  readonly kernels: readonly KernelProfile[];
  /** Of each kernel, in the same order. */
  readonly listings: readonly KernelListing[];
}
