import type { FaultCode } from '../../types.js';

/**
 * What compiled code works in besides device memory. The first area lies at the bottom of the node's memory, below
 * everything that address spaces map; each further thread that runs blocks of a launch has one of its own, and an
 * instance of a module is told where its area begins (`FunctionBuilder.area`). All that follows are offsets from there,
 * save the tables of functions, which every thread reads in the first area. Nothing in an area outlives a run.
 *
 *   0x00000  unused: a stray zero address reads nothing
 *   0x00400  launch record, from 0x00800 the table of ex2, from 0x00a00 accesses that lanes make one by one
 *   0x01000  state of each thread    0x02000  tables of special functions    0x08000  kernel parameters
 *   0x10000  instruction counters    0x40000  access caches          0x60000  symbol addresses
 *   0x70000  passes of lanes that run apart from their chunk, and from 0x74000 their registers
 *   0x80000  shared memory           0x100000 access journal         0x180000 matrices of a warp that are multiplied
 *   0x185000 thread contexts and local memory (more is allocated when it is short)
 */
export const AREA = {
  record: 0x400,
  exponentials: 0x800,
  lanes: 0xa00,
  lanesEnd: 0x1000,
  states: 0x1000,
  specialFunctions: 0x2000,
  params: 0x8000,
  paramsEnd: 0x10000,
  counters: 0x10000,
  countersEnd: 0x40000,
  caches: 0x40000,
  cachesEnd: 0x60000,
  symbols: 0x60000,
  symbolsEnd: 0x70000,
  passes: 0x70000,
  passesEnd: 0x74000,
  parted: 0x74000,
  partedEnd: 0x80000,
  shared: 0x80000,
  sharedEnd: 0x100000,
  journal: 0x100000,
  journalEnd: 0x140000,
  journalOld: 0x140000,
  journalOldEnd: 0x180000,
  tile: 0x180000,
  tileScratch: 0x181000,
  tileEnd: 0x185000,
  contexts: 0x185000,
  contextsEnd: 0x400000,
} as const;

/** The launch record's fields; i32 unless said otherwise. */
export const RECORD = {
  /** i64: PTX thread-instructions that the block may still spend. */
  fuel: AREA.record,
  /** i64: what each block starts with. */
  fuelPerBlock: AREA.record + 8,
  ctaid: AREA.record + 16,
  nctaid: AREA.record + 28,
  ntid: AREA.record + 40,
  threads: AREA.record + 52,
  sharedBytes: AREA.record + 56,
  dynamicSharedBytes: AREA.record + 60,
  segmentTable: AREA.record + 64,
  segmentCount: AREA.record + 68,
  /** Where contexts and local memory begin in the node's memory. */
  contexts: AREA.record + 72,
  locals: AREA.record + 76,
  faultCode: AREA.record + 80,
  faultInstruction: AREA.record + 84,
  /** i64 */
  faultAddress: AREA.record + 88,
  faultThread: AREA.record + 96,
  /** Where the next journal entry goes, and the next bytes that a write replaces. */
  journalNext: AREA.record + 100,
  journalOldNext: AREA.record + 104,
  /** 1 once a thread has changed shared or global memory; kept by kernels whose threads wait for one another. */
  wrote: AREA.record + 108,
  /** i64: thread-instructions of the run so far; kept by observed code. */
  position: AREA.record + 112,
  /** i64: position of the first access that must not happen any more. */
  stopAt: AREA.record + 120,
  /** i64: how often clocks were read. */
  clockReads: AREA.record + 128,
  /** i64: cycles at which the running block's fuel was full. */
  clockBase: AREA.record + 136,
  /** f64 */
  cyclesPerNs: AREA.record + 144,
  /** i64 */
  gridId: AREA.record + 152,
  sm: AREA.record + 160,
  smCount: AREA.record + 164,
  envreg1: AREA.record + 168,
  envreg2: AREA.record + 172,
  /** i64: of the thread-instructions that the counters count, those of lanes that had left their chunk or were in none. */
  instructionsApart: AREA.record + 176,
  /** i64: thread-instructions that idle lanes would have done while others of their chunk went through code under masks. */
  instructionsIdle: AREA.record + 184,
  /** 1: observed code writes loads into its journal too. */
  tracesLoads: AREA.record + 192,
  /** Blocks of a cluster in x, y, z; and whether the launch says so. */
  clusterDim: AREA.record + 196,
  isExplicitCluster: AREA.record + 208,
  /**
   * Of kernels whose blocks meet in clusters: the block's place in its own, one bit for each block of it that has not ended, where the
   * shared memory of the first one and its own begin in the node's memory, and how far it is from one to the next.
   */
  clusterRank: AREA.record + 212,
  clusterAlive: AREA.record + 216,
  clusterShared: AREA.record + 220,
  ownShared: AREA.record + 224,
  clusterStride: AREA.record + 228,
} as const;

/** What the block driver and the host hand one another: i32 each, by warp where it says so. */
export const DRIVER = {
  /** By warp: its lanes that have not ended, and the state that they share. */
  alive: AREA.record + 0x200,
  state: AREA.record + 0x280,
  /** The block that has been left. */
  block: AREA.record + 0x300,
  /** One bit for each warp that waits at a barrier of the block. */
  waiting: AREA.record + 0x304,
  /** The warp that the driver has left. */
  warp: AREA.record + 0x308,
  /** Where a phase of several warps ended: behind which warp, and the state of the first one. */
  phaseWarp: AREA.record + 0x30c,
  phaseState: AREA.record + 0x310,
  /** By warp: its lanes that have run apart from their chunks, so that registers may hold anything. */
  parted: AREA.record + 0x380,
} as const;

/** One entry of the journal: i64 position, i64 address, i32 what, i32 place of the old bytes or -1. */
export const JOURNAL_ENTRY = { bytes: 24, position: 0, address: 8, what: 16, old: 20 } as const;

/** Most bytes that one access moves. */
export const MAX_ACCESS_BYTES = 32;

export const MAX_THREADS = 1024;
export const WARP_SIZE = 32;

/** What a chunk and `reachLanes` hand one another: by lane, i64 addresses and the bytes that move. */
export const LANES = {
  addresses: AREA.lanes,
  bytes: AREA.lanes + WARP_SIZE * 8,
  /** i32: how many lanes reached shared memory, and how many global memory. */
  inShared: AREA.lanes + WARP_SIZE * (8 + MAX_ACCESS_BYTES),
  inGlobal: AREA.lanes + WARP_SIZE * (8 + MAX_ACCESS_BYTES) + 4,
} as const;

/** What a lane and a texture unit hand one another: the handle (i64), words of operands, words of results. */
export const FETCH = {
  handle: AREA.lanes + 0x510,
  operands: AREA.lanes + 0x520,
  results: AREA.lanes + 0x560,
} as const;

/** Bytes of one counter: i64 thread count, i64 warp count. */
export const COUNTER_BYTES = 16;

/** Byte counters of guarded and generic accesses, i64 each, before the counters of classes. */
export const DYNAMIC_BYTES = {
  globalLoad: AREA.counters,
  globalStore: AREA.counters + 8,
  shared: AREA.counters + 16,
} as const;

/** Where the counters of classes begin. */
export const CLASS_COUNTERS = AREA.counters + 32;

/**
 * Passes through one class by lanes that run apart from their chunk, i32 each: of all such lanes of the warp, the most of
 * any one lane, and those that each lane had made when it parted.
 */
export const PASSES = { bytes: 16, count: 0, most: 4, before: 8 } as const;

/** One access cache: i64 base, i64 limit (in units of the access size; 0 is empty), i32 offset. */
export const CACHE = { bytes: 24, base: 0, limit: 8, offset: 16 } as const;

/** Before any exit status in a thread's state: -1 - (the mark of the way that it took, see exitMarks). */
export const ENTRY_STATE = 0;

export const FAULTS: readonly FaultCode[] = [
  'illegalAddress',
  'misalignedAddress',
  'writeToReadOnly',
  'sharedOutOfBounds',
  'localOutOfBounds',
  'divergentBarrier',
  'fuelExhausted',
  'trap',
  'assertion',
  'illegalInstruction',
  'stackOverflow',
  'deadlock',
  'unsupportedInstruction',
  'clusterBlockNotPresent',
];

/** In place of a fault: the run has come to the position at which it was to stop. */
export const STOPPED = 99;

/** Number of a fault in the launch record; 0 is none. */
export function faultNumber(code: FaultCode): number {
  return FAULTS.indexOf(code) + 1;
}
