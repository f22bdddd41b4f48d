import type { Executor, ExecutorLaunch } from '../../executor/index.js';
import { l1BytesBeside } from '../occupancy/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import { DEVICE_RESOURCES, SM_RESOURCES, type BlockWork } from './blockWork.js';
import { BlockTracer } from './blockTracer.js';
import { busiestTurns } from './contention.js';
import type { TracedBlock } from './tracedBlock.js';
import { GRANULE_BYTES } from './granules.js';
import { farPages } from './pageUse.js';
import { farShares } from './reuseWindow.js';
import { turnCycles } from './signals.js';
import { leapingSegments, pointedSegments, segmentPatterns, type SegmentPattern } from './segmentPattern.js';

/** A block that was traced. Plain data. */
export interface ProfiledBlock {
  /** Everything but DRAM traffic, which depends on what L2 holds at the launch. */
  readonly work: BlockWork;
  readonly chainDramCycles: number;
  /** PTX warp instructions that were traced; the executor's counters scale the work against it. */
  readonly warpInstructions: number;
}

/** A block of another length than the typical one. */
export interface BlockOfLength extends ProfiledBlock {
  /** PTX warp instructions that it executed, traced or not. */
  readonly length: number;
}

/** What a kernel at one shape is like: a typical block, from which others differ by how much they execute. Plain data. */
export interface KernelProfile extends ProfiledBlock {
  /** How much a block executes depends on what others do meanwhile: counted is what the trace saw. */
  readonly isTold?: boolean | undefined;
  /** Blocks that execute so much more or less that they are of another kind. */
  readonly others?: readonly BlockOfLength[] | undefined;
  readonly segments: readonly SegmentPattern[];
  /** Blocks of the grid that was traced. */
  readonly tracedBlocks: number;
  /** Bytes that a block asks of L2, by sectors. */
  readonly l2TrafficBytes: number;
}

const STARTS = DEVICE_RESOURCES.indexOf('starts');
const PAGES = SM_RESOURCES.indexOf('pages');
const HOT_ATOMICS = DEVICE_RESOURCES.indexOf('hotAtomics');
const SECTOR_BYTES = 32;
const LINE_BYTES = 128;
/** Warp instructions traced of the first block and of the others; the rest of a block is taken to go on alike. */
const FIRST_TRACE_BUDGET = 60_000;
const TRACE_BUDGET = 30_000;

/** Traces a few blocks of a launch. The first and last block bound the address spans, the others are typical. */
export function profileLaunch(
  executor: Executor,
  launch: ExecutorLaunch,
  profile: DeviceProfile,
  /** Blocks that share an SM. */
  resident: number,
  lo: number,
  hi: number,
  sharedBytesPerBlock: number,
): KernelProfile {
  if (executor.trace === undefined) return emptyProfile(launch, profile);
  const blocks = sampleBlocks(lo, hi, profile.sms);
  const tracer = tracerOf(launch, profile, resident, sharedBytesPerBlock);
  for (const [index, block] of blocks.entries()) {
    tracer.allow(index < 2 ? FIRST_TRACE_BUDGET : TRACE_BUDGET);
    executor.trace(launch, [block], tracer);
  }
  tracer.finish();
  // Where most of the code is not seen, these blocks may have left early.
  if (tracer.coverage < LEAST_COVERAGE) {
    for (const block of moreBlocks(lo, hi, blocks)) {
      tracer.allow(TRACE_BUDGET);
      executor.trace(launch, [block], tracer);
    }
    tracer.finish();
  }
  // Does it wait for the block before it?
  const before = blocks[0] - 1;
  if (before >= lo && !blocks.includes(before) && tracer.blocks[0]?.signals.awaited.size > 0) {
    tracer.allow(TRACE_BUDGET);
    executor.trace(launch, [before], tracer);
    tracer.finish();
  }
  const far = sharesOfLeaps(executor, tracer, profile, launch, lo, hi, resident);
  return summarise(tracer, profile, launch, hi - lo, resident, far);
}

/** Of segments in which blocks leap about: how much of what a block uses no other has used shortly before. */
function sharesOfLeaps(
  executor: Executor,
  { blocks }: BlockTracer,
  { timing, sms }: DeviceProfile,
  launch: ExecutorLaunch,
  lo: number,
  hi: number,
  resident: number,
): ReadonlyMap<number, number> {
  const traced = blocks.filter((block) => block.warpInstructions > 0);
  const [holdsBytes] = timing.l2MissCurve[0];
  if (traced.length === 0 || leapingSegments(traced, hi - lo, holdsBytes).length === 0) return new Map();
  const { space } = launch.module;
  const { lines } = traced[0];
  // Blocks that are all there at once go side by side, however much each uses in the end.
  const isTogether = hi - lo <= resident * sms;
  const reach = isTogether ? hi - lo : (HELD_TWICE * holdsBytes) / Math.max(1, lines.count * LINE_BYTES);
  const threads = launch.shape.block[0] * launch.shape.block[1] * launch.shape.block[2];
  const turnBytes = Math.min(hi - lo, resident * sms) * threads * GRANULE_BYTES;
  const reachTurns = Math.max(1, (HELD_TWICE * holdsBytes) / turnBytes);
  const segmentOf = (address: number): number => space.find(address)?.virtualAddress ?? -1;
  return new Map(
    [...farShares(executor, launch, segmentOf, lo, hi, reach, reachTurns)].filter(([segment]) =>
      leapingSegments(traced, hi - lo, holdsBytes).includes(segment),
    ),
  );
}

/**
 * Traces one block that has executed `length` warp instructions, behind the typical one, which tells what they share.
 * @returns undefined when it does something else now: what it has written decides what it does
 */
export function profileBlock(
  executor: Executor,
  launch: ExecutorLaunch,
  profile: DeviceProfile,
  resident: number,
  typical: number,
  block: number,
  length: number,
  sharedBytesPerBlock: number,
): BlockOfLength | undefined {
  if (executor.trace === undefined) return undefined;
  const tracer = tracerOf(launch, profile, resident, sharedBytesPerBlock);
  for (const each of [typical, block]) {
    tracer.allow(TRACE_BUDGET);
    executor.trace(launch, [each], tracer);
  }
  const isWhole = !tracer.full;
  tracer.finish();
  const traced = tracer.blocks.at(-1);
  if (traced === undefined || traced.warpInstructions === 0) return undefined;
  if (isWhole && Math.abs(traced.warpInstructions - length) > LENGTH_TOLERANCE * length) return undefined;
  const device = [...traced.device];
  device[STARTS] = 1;
  return {
    work: workOf(traced, device),
    chainDramCycles: traced.chainDramCycles,
    warpInstructions: traced.warpInstructions,
    length,
  };
}

const LENGTH_TOLERANCE = 0.1;

function workOf(traced: TracedBlock, device: readonly number[]): BlockWork {
  return {
    sm: traced.sm,
    device,
    chainCycles: traced.chainL2Cycles,
    chainFixedNs: 0,
    warps: traced.warps,
    isLoose: traced.isLoose,
    rounds: traced.rounds,
  };
}

function tracerOf(
  launch: ExecutorLaunch,
  profile: DeviceProfile,
  resident: number,
  sharedBytesPerBlock: number,
): BlockTracer {
  const threads = launch.shape.block[0] * launch.shape.block[1] * launch.shape.block[2];
  const { space } = launch.module;
  return new BlockTracer(
    launch.kernel,
    profile,
    Math.ceil(threads / profile.warpSize),
    l1BytesBeside(profile, sharedBytesPerBlock * resident) / resident,
    (address) => space.find(address)?.virtualAddress ?? -1,
    resident,
  );
}

/**
 * The block in the middle, then the one that joins it on its SM (blocks go round the SMs), then the first and the last,
 * which bound the address spans.
 */
function sampleBlocks(lo: number, hi: number, sms: number): number[] {
  const middle = lo + Math.floor((hi - lo) / 2);
  const neighbour = middle + sms < hi ? middle + sms : middle - sms >= lo ? middle - sms : middle;
  return [...new Set([middle, neighbour, lo, hi - 1])];
}

/** What blocks leave behind is there longer than a sweep can be long that begins anew: L2 does not drop its oldest first. */
const HELD_TWICE = 2;
const LEAST_COVERAGE = 0.5;

/** Others, spread over the grid. */
function moreBlocks(lo: number, hi: number, traced: readonly number[]): number[] {
  const blocks = SPREAD.map((part) => lo + Math.floor((hi - lo) * part));
  return [...new Set(blocks)].filter((block) => !traced.includes(block));
}

const SPREAD = [0.07, 0.19, 0.31, 0.43, 0.62, 0.74, 0.86, 0.97];

function summarise(
  tracer: BlockTracer,
  profile: DeviceProfile,
  launch: ExecutorLaunch,
  gridBlocks: number,
  resident: number,
  far: ReadonlyMap<number, number>,
): KernelProfile {
  const traced = tracer.blocks.filter((block) => block.warpInstructions > 0);
  if (traced.length === 0) return emptyProfile(launch, profile);
  // The first and the last block bound spans only; of the pair on one SM, the second knows what they share. In a grid
  // of few blocks the typical one may be a partial one: then the fullest stands for all.
  const longest = Math.max(...traced.map((block) => block.warpInstructions));
  const isEarly = traced.slice(0, 2).every((block) => block.warpInstructions * EARLY < longest);
  const pair = isEarly ? traced.filter((block) => block.warpInstructions === longest) : traced.slice(0, 2);
  const most = Math.max(...pair.map((block) => block.warpInstructions));
  const full = pair.filter((block) => block.warpInstructions > 0.8 * most);
  const whole = resident > 1 && traced.length > 2 && !isEarly ? full.slice(-1) : full.slice(0, 1);
  const mean = (of: (block: TracedBlock) => number): number =>
    whole.reduce((sum, block) => sum + of(block), 0) / whole.length;
  const device = DEVICE_RESOURCES.map((_, resource) => mean((block) => block.device[resource]));
  device[STARTS] = 1;
  device[HOT_ATOMICS] = busiestTurns(traced, {
    profile,
    gridBlocks,
    residentBlocks: Math.min(gridBlocks, resident * profile.sms),
    bytesOf: (segment) => launch.module.space.find(segment)?.askedBytes ?? Infinity,
  });
  const sm = SM_RESOURCES.map((_, resource) => mean((block) => block.sm[resource]));
  const turns = turnCycles(
    traced.map(({ signals }) => signals),
    Math.min(gridBlocks, resident * profile.sms),
    profile.timing.latency.atomic / 2,
  );
  sm[PAGES] = farPages(
    traced.map(({ pages }) => pages),
    Math.min(resident, Math.ceil(gridBlocks / profile.sms)),
    profile.timing,
  );
  return {
    work: {
      sm,
      device,
      chainCycles: Math.max(
        turns,
        mean((block) => block.chainL2Cycles),
      ),
      chainFixedNs: 0,
      warps: traced[0].warps,
      isLoose: whole.some((block) => block.isLoose),
      rounds: mean((block) => block.rounds),
    },
    chainDramCycles: Math.max(
      turns,
      mean((block) => block.chainDramCycles),
    ),
    warpInstructions: mean((block) => block.warpInstructions),
    isTold: whole.every((block) => block.waits && !block.isCut) || undefined,
    segments: segmentPatterns(traced, pointedSegments(launch), far),
    tracedBlocks: gridBlocks,
    l2TrafficBytes: mean((block) => block.l2Sectors * SECTOR_BYTES),
  };
}

/** Blocks that execute this many times less than another have left early. */
const EARLY = 4;

function emptyProfile(launch: ExecutorLaunch, profile: DeviceProfile): KernelProfile {
  const threads = launch.shape.block[0] * launch.shape.block[1] * launch.shape.block[2];
  const device = DEVICE_RESOURCES.map((_, index) => (index === STARTS ? 1 : 0));
  return {
    work: {
      sm: SM_RESOURCES.map(() => 0),
      device,
      chainCycles: profile.timing.blockStartCycles,
      chainFixedNs: 0,
      warps: Math.ceil(threads / profile.warpSize),
    },
    chainDramCycles: profile.timing.blockStartCycles,
    warpInstructions: 0,
    segments: [],
    tracedBlocks: 1,
    l2TrafficBytes: 0,
  };
}
