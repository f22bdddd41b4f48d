import {
  emptyCounters,
  type Dim3,
  type ExecutionCounters,
  type InstructionClass,
  type KernelFault,
  type LaunchShape,
  type StoreLog,
} from '../../executor/index.js';
import type { LaunchClass, LaunchVerdict } from '../../scheduling/index.js';
import type { BlockFootprint } from '../occupancy/index.js';
import type { FaultPoint } from './faultPoint.js';
import type { ProfiledCost } from '../costs/index.js';
import type { KernelProfile, TrafficPlan } from '../timing/index.js';
import type { KnownWork } from './knownWork.js';

/** A kernel to run, as the driver hands it to a device. Plain data. */
export interface LaunchRequest {
  /** Number by which whoever launched knows it again at its end. */
  readonly command?: number | undefined;
  readonly context: number;
  readonly module: number;
  readonly kernel: string;
  readonly shape: LaunchShape;
  readonly params: Uint8Array;
  /** All blocks start together, once there is room for all. */
  readonly cooperative?: boolean | undefined;
  /** Device address of zeroed memory where they meet. */
  readonly gridWorkspace?: number | undefined;
  /** Blocks `[lo, hi)` of the grid. */
  readonly lo: number;
  readonly hi: number;
  /** TPCs allowed, one bit each; -1n allows all. */
  readonly tpcMask: bigint;
  readonly priority: number;
  /** Undefined: `standard`. */
  readonly launchClass?: LaunchClass | undefined;
  /** Whether it may be killed and run again, where somebody asked. */
  readonly verdict?: LaunchVerdict | undefined;
  /** There when a transient fault is to strike it. */
  readonly faultPoint?: FaultPoint | undefined;
  readonly reportBlocks: boolean;
  readonly block: BlockFootprint;
  /** Of one thread, as the launch check estimated them. */
  readonly registers: number;
  /** What it cost when it was run; its blocks are that in place of running. */
  readonly cost?: ProfiledCost | undefined;
  readonly sharedBytes: number;
  /** Wait before the first block: the part of the launch's overhead that nothing hides. */
  readonly leadNs: number;
  /** There when nothing is to be executed: the blocks are this work. `module`, `kernel` and `params` are names then. */
  readonly known?: KnownWork | undefined;
  /** What a block holds that a save copies out, where its registers and shared memory only stand for the room that it takes. */
  readonly contextBytes?: number | undefined;
}

export type LaunchPhase = 'starting' | 'running' | 'done' | 'faulted' | 'killed';

/** A launch on a device. Plain data: a snapshot holds it as it is. */
export interface LaunchRecord extends LaunchRequest {
  readonly id: number;
  readonly arrivedNs: number;
  /** The card's energy when it arrived. */
  readonly arrivedMillijoules: number;
  /** It may come while the launch runs. */
  verdict?: LaunchVerdict | undefined;
  phase: LaunchPhase;
  /** Next block to dispatch; blocks from here to `hi` are the dispatcher's. */
  next: number;
  residentBlocks: number;
  doneBlocks: number;
  startNs: number;
  endNs: number;
  /** What its blocks have executed so far. */
  counters: ExecutionCounters;
  /** Of a launch whose blocks wait for one another, once all of them have run: what they executed together. */
  wholeGrid?: ExecutionCounters | undefined;
  /** Warp instructions of the shortest and the longest of the blocks that were run by themselves to find out. */
  shortestBlock: number;
  longestBlock: number;
  dramBytes: number;
  /** What the whole card took from its arrival to its end. */
  energyMillijoules: number;
  /** Host seconds of functional execution; no part of the state that a hash covers. */
  executorSeconds: number;
  /** Caches are taken to be warm from an equal launch before. */
  readonly warm: boolean;
  profile?: KernelProfile | undefined;
  plan?: TrafficPlan | undefined;
  fault?: KernelFault | undefined;
  /** What the kernel has printed, in the order in which its blocks ran. */
  printed?: string | undefined;
  kills: number;
  savedBlocks: number;
  /** Its blocks are on their way off the SMs or back. */
  isMoving: boolean;
  /** Blocks below have run before a kill: what they execute again is not counted. */
  ranUntil: number;
  /** Time that its finished blocks were on the SMs, where the policy preempts. */
  doneBlockNs: number;
  /** A policy waits for its resident blocks since then, which held so much. */
  drainSinceNs?: number | undefined;
  drainedBytes?: number | undefined;
  /** Something that overlaps its memory came under way after it. */
  mustNotKill?: boolean | undefined;
  /** Its blocks run so that their stores can be taken back. */
  isObserved?: boolean | undefined;
  /** By block: what those that have not come to their end have stored. */
  stores?: Map<number, StoreLog> | undefined;
}

/** What a launch has for itself alone; see the fields of its record. */
export type OwnTerms = Pick<LaunchRecord, 'id' | 'command' | 'leadNs' | 'gridWorkspace'>;

/** Written out: a launch of microseconds is not to pay for a copy by spreading. */
export function launchRecord(
  request: LaunchRequest,
  { id, command, leadNs, gridWorkspace }: OwnTerms,
  nowNs: number,
  nowMillijoules: number,
  warm: boolean,
  /** The request's within its context's share. */
  tpcMask: bigint,
): LaunchRecord {
  return {
    command,
    context: request.context,
    module: request.module,
    kernel: request.kernel,
    shape: request.shape,
    params: request.params,
    cooperative: request.cooperative,
    gridWorkspace,
    lo: request.lo,
    hi: request.hi,
    tpcMask,
    priority: request.priority,
    launchClass: request.launchClass,
    verdict: request.verdict,
    faultPoint: request.faultPoint,
    reportBlocks: request.reportBlocks,
    block: request.block,
    registers: request.registers,
    cost: request.cost,
    sharedBytes: request.sharedBytes,
    leadNs,
    known: request.known,
    contextBytes: request.contextBytes,
    id,
    arrivedNs: nowNs,
    arrivedMillijoules: nowMillijoules,
    phase: 'starting',
    next: request.lo,
    residentBlocks: 0,
    doneBlocks: 0,
    startNs: nowNs,
    endNs: nowNs,
    counters: NOTHING,
    wholeGrid: undefined,
    shortestBlock: Infinity,
    longestBlock: 0,
    dramBytes: 0,
    energyMillijoules: 0,
    executorSeconds: 0,
    warm,
    profile: undefined,
    plan: undefined,
    fault: undefined,
    printed: undefined,
    kills: 0,
    savedBlocks: 0,
    isMoving: false,
    ranUntil: request.lo,
    doneBlockNs: 0,
    drainSinceNs: undefined,
    drainedBytes: undefined,
    mustNotKill: undefined,
    isObserved: undefined,
    stores: undefined,
  };
}

/** One block's time on the device, for launches that ask. */
export interface BlockReport {
  readonly launch: number;
  /** Of the launch's request. */
  readonly command?: number | undefined;
  readonly block: number;
  readonly sm: number;
  readonly startNs: number;
  readonly endNs: number;
}

/** Of launches of which no block has run: each gets counters of its own with its first. Nobody writes here. */
const NOTHING: ExecutionCounters = emptyCounters();

const CLASSES = Object.keys(emptyCounters().byClass) as InstructionClass[];

/** As CUDA's default `cudaLimitPrintfFifoSize`. */
const PRINTED_CHARACTERS = 2 ** 20;

/** A block's place in its grid, by its number. */
export function linearBlock([x, y]: Dim3, block: number): Dim3 {
  return [block % x, Math.floor(block / x) % y, Math.floor(block / (x * y))];
}

/** Of text beyond the buffer's size the oldest is lost. */
export function addPrinted(record: LaunchRecord, text: string | undefined): void {
  if (text === undefined) return;
  record.printed = ((record.printed ?? '') + text).slice(-PRINTED_CHARACTERS);
}

/** Of the next blocks so many as have all run before a kill, or none of them. */
export function notPastFirstRun({ next, ranUntil }: LaunchRecord, blocks: number): number {
  return next < ranUntil ? Math.min(blocks, ranUntil - next) : blocks;
}

/** Adds what blocks have executed to their launch's counters, which may be these from now on. */
export function addCounters(record: LaunchRecord, more: ExecutionCounters): void {
  if (record.counters.blocks === 0) record.counters = more;
  else addTo(record.counters, more);
}

/** Adds counters of other blocks. */
export function addTo(into: ExecutionCounters, more: ExecutionCounters): void {
  into.threadInstructions += more.threadInstructions;
  into.warpInstructions += more.warpInstructions;
  for (const name of CLASSES) into.byClass[name] += more.byClass[name];
  into.globalLoadBytes += more.globalLoadBytes;
  into.globalStoreBytes += more.globalStoreBytes;
  into.sharedBytes += more.sharedBytes;
  into.blocks += more.blocks;
}
