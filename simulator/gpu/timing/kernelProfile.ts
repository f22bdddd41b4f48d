import type { Executor, ExecutorLaunch } from '../../executor/index.js';
import { l1BytesBeside } from '../occupancy/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import { DEVICE_RESOURCES, SM_RESOURCES, type BlockWork } from './blockWork.js';
import { BlockTracer, type TracedBlock } from './blockTracer.js';
import { pointedSegments, segmentPatterns, type SegmentPattern } from './segmentPattern.js';

/** What a kernel at one shape is like; blocks differ from it by how much they execute. Plain data. */
export interface KernelProfile {
  /** A typical block: everything but DRAM traffic, which depends on what L2 holds at the launch. */
  readonly work: BlockWork;
  readonly chainDramCycles: number;
  /** PTX warp instructions of that typical block; the executor's counters scale the work against it. */
  readonly warpInstructions: number;
  readonly segments: readonly SegmentPattern[];
  /** Blocks of the grid that was traced. */
  readonly tracedBlocks: number;
  /** Bytes that a block asks of L2, by sectors. */
  readonly l2TrafficBytes: number;
}

const STARTS = DEVICE_RESOURCES.indexOf('starts');
const HOT_ATOMICS = DEVICE_RESOURCES.indexOf('hotAtomics');
const SECTOR_BYTES = 32;
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
  const blocks = sampleBlocks(lo, hi, profile.sms);
  const threads = launch.shape.block[0] * launch.shape.block[1] * launch.shape.block[2];
  const warps = Math.ceil(threads / profile.warpSize);
  if (executor.trace === undefined) return emptyProfile(launch, profile);

  const l1Bytes = l1BytesBeside(profile, sharedBytesPerBlock * resident) / resident;
  const { space } = launch.module;
  const tracer = new BlockTracer(
    launch.kernel,
    profile,
    warps,
    l1Bytes,
    (address) => space.find(address)?.virtualAddress ?? -1,
    resident,
  );
  for (const [index, block] of blocks.entries()) {
    tracer.allow(index < 2 ? FIRST_TRACE_BUDGET : TRACE_BUDGET);
    executor.trace(launch, [block], tracer);
  }
  tracer.finish();
  return summarise(tracer, profile, launch, hi - lo, resident);
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

function summarise(
  tracer: BlockTracer,
  profile: DeviceProfile,
  launch: ExecutorLaunch,
  gridBlocks: number,
  resident: number,
): KernelProfile {
  const traced = tracer.blocks.filter((block) => block.warpInstructions > 0);
  if (traced.length === 0) return emptyProfile(launch, profile);
  // The first and the last block bound spans only; of the pair on one SM, the second knows what they share. In a grid
  // of few blocks the typical one may be a partial one: then the fullest stands for all.
  const pair = traced.slice(0, 2);
  const most = Math.max(...pair.map((block) => block.warpInstructions));
  const full = pair.filter((block) => block.warpInstructions > 0.8 * most);
  const whole = resident > 1 && traced.length > 2 ? full.slice(-1) : full.slice(0, 1);
  const mean = (of: (block: TracedBlock) => number): number =>
    whole.reduce((sum, block) => sum + of(block), 0) / whole.length;
  const device = DEVICE_RESOURCES.map((_, resource) => mean((block) => block.device[resource]));
  device[STARTS] = 1;
  device[HOT_ATOMICS] = hotAtomics(traced, gridBlocks);
  return {
    work: {
      sm: SM_RESOURCES.map((_, resource) => mean((block) => block.sm[resource])),
      device,
      chainCycles: mean((block) => block.chainL2Cycles),
      chainFixedNs: 0,
      warps: traced[0].warps,
      isLoose: whole.some((block) => block.isLoose),
      rounds: mean((block) => block.rounds),
    },
    chainDramCycles: mean((block) => block.chainDramCycles),
    warpInstructions: mean((block) => block.warpInstructions),
    segments: segmentPatterns(traced, pointedSegments(launch)),
    tracedBlocks: gridBlocks,
    l2TrafficBytes: mean((block) => block.l2Sectors * SECTOR_BYTES),
  };
}

/**
 * Atomic operations a block adds to the busiest address. An address that several sampled blocks use is taken to be
 * everybody's; one that a single block uses is that block's own.
 */
function hotAtomics(traced: readonly TracedBlock[], gridBlocks: number): number {
  const users = new Map<number, { blocks: number; operations: number }>();
  for (const block of traced) {
    for (const [address, operations] of block.atomics) {
      const user = users.get(address) ?? { blocks: 0, operations: 0 };
      user.blocks += 1;
      user.operations += operations;
      users.set(address, user);
    }
  }
  let hottest = 0;
  for (const { blocks, operations } of users.values()) {
    const share = blocks > 1 || traced.length === 1 ? operations / traced.length : operations / gridBlocks;
    hottest = Math.max(hottest, share);
  }
  return hottest;
}

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
