import type { OccupancyLimit } from '../gpu/index.js';

/** How many blocks of a launch an SM holds at once, and why no more. */
export interface OccupancyReport {
  readonly kernel: string;
  readonly ptxFile: string;
  readonly device: string;
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  readonly threads: number;
  readonly warps: number;
  readonly registersPerThread: number;
  /** Whether the registers are the simulator's estimate or were given. */
  readonly registers: 'estimated' | 'given';
  readonly staticSharedBytes: number;
  readonly dynamicSharedBytes: number;
  readonly carveoutPercent?: number;
  readonly blocksPerSm: number;
  readonly warpsPerSm: number;
  readonly mostWarpsPerSm: number;
  /** Resident warps over the most that an SM holds. */
  readonly share: number;
  /** Every limit that stops the next block. */
  readonly boundBy: readonly OccupancyLimit[];
  readonly limits: readonly LimitRow[];
  /** What the SM's memory is split into while it holds these blocks. */
  readonly sharedConfigurationBytes: number;
  readonly l1Bytes: number;
  /** Of a launch with clusters: blocks of one, and how many of them the device holds at once. */
  readonly cluster?: { readonly blocks: number; readonly active: number };
  readonly sms: number;
  readonly blocks: number;
  /** The grid over what the whole device holds at once. */
  readonly waves: number;
  readonly byBlockSize: readonly BlockSizeRow[];
}

export interface LimitRow {
  readonly limit: OccupancyLimit;
  readonly blockTakes: number;
  readonly smHas: number;
  readonly blocksPerSm: number;
}

/** The same kernel with blocks of another size. */
export interface BlockSizeRow {
  readonly threads: number;
  readonly blocksPerSm: number;
  readonly warpsPerSm: number;
  readonly share: number;
}
