import { DEVICE_RESOURCES, SM_RESOURCES } from './blockWork.js';
import { LineTable } from './lineTable.js';
import { PageUse } from './pageUse.js';
import { Signals } from './signals.js';
import { SwapLoops } from './swapLoops.js';

/** What one traced block did. */
export interface TracedBlock {
  readonly block: number;
  readonly warps: number;
  warpInstructions: number;
  /** The trace ends before it does. */
  isCut: boolean;
  /** How much it executes is a matter of what others do meanwhile. */
  waits: boolean;
  readonly sm: number[];
  /** L2 traffic in bytes at `l2Bytes`, atomic operations at `atomics`; DRAM traffic is decided at launch. */
  readonly device: number[];
  /** Longest dependent chain when every L1 miss hits L2, and when every one goes to DRAM. */
  chainL2Cycles: number;
  chainDramCycles: number;
  /** See `BlockWork.isLoose`. */
  isLoose: boolean;
  /** Of its first warp. */
  barriers: number;
  /** See `BlockWork.rounds`. */
  rounds: number;
  /** Sectors asked of L2. */
  l2Sectors: number;
  /** Turns of atomic operations, by the piece of L2 that they are on. */
  readonly atomics: Map<number, number>;
  /** Global memory that it accessed, and lines of its local memory, which nobody else uses. */
  readonly lines: LineTable;
  readonly pages: PageUse;
  /** What it asks of L2, by segment. */
  readonly asked: Map<number, Asked>;
  /** Requests that store to one word, by its address. */
  readonly storedWords: Map<number, number>;
  /** Additions of floats, by address. */
  readonly floatSums: Map<number, number>;
  readonly swapLoops: SwapLoops;
  readonly signals: Signals;
}

/** Bytes asked of L2, in sectors and in what DRAM moves for them at least, if none of them is in L2. */
export interface Asked {
  sectorBytes: number;
  dramBytes: number;
  /** What of it is stored without filling sectors. */
  partialBytes: number;
  /** What lanes store. */
  storedBytes: number;
}

/** @param issueSlots that it takes before its first instruction */
export function newTracedBlock(block: number, warps: number, issueSlots: number): TracedBlock {
  return {
    block,
    warps,
    warpInstructions: 0,
    isCut: false,
    waits: false,
    sm: SM_RESOURCES.map((resource) => (resource === 'issue' ? issueSlots : 0)),
    device: DEVICE_RESOURCES.map(() => 0),
    chainL2Cycles: 0,
    chainDramCycles: 0,
    isLoose: false,
    barriers: 0,
    rounds: 0,
    l2Sectors: 0,
    atomics: new Map(),
    lines: new LineTable(),
    pages: new PageUse(),
    asked: new Map(),
    storedWords: new Map(),
    floatSums: new Map(),
    swapLoops: new SwapLoops(),
    signals: new Signals(),
  };
}
