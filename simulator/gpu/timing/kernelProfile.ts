import type { ExecutionCounters, Executor, ExecutorLaunch } from '../../executor/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import { DEVICE_RESOURCES, SM_RESOURCES, scaleWork, type BlockWork } from './blockWork.js';
import { BlockTracer, type TracedBlock } from './blockTracer.js';
import { missShare, residentShare, type L2State } from './l2State.js';

/** A launch's memory behaviour on one segment, over all its blocks. */
export interface SegmentUse {
  /** Offset of the segment's start from nothing: its device address; -1 for addresses outside every segment. */
  readonly segment: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  /** Read or written, counted once. */
  readonly footprintBytes: number;
}

/** What a kernel at one shape is like; blocks differ from it by how much they execute. Plain data. */
export interface KernelProfile {
  /** A typical block: everything but DRAM traffic, which depends on what L2 holds at the launch. */
  readonly work: BlockWork;
  readonly chainDramCycles: number;
  /** PTX warp instructions of that typical block; the executor's counters scale the work against it. */
  readonly warpInstructions: number;
  /** Distinct bytes that a block touches. */
  readonly blockFootprintBytes: number;
  /** Uses per segment for a whole grid, at the positions of the segments among the launch's arguments. */
  readonly uses: readonly SegmentUse[];
  /** Bytes that a block asks of L2, by sectors. */
  readonly l2TrafficBytes: number;
}

const L2_BYTES = DEVICE_RESOURCES.indexOf('l2Bytes');
const DRAM_BYTES = DEVICE_RESOURCES.indexOf('dramBytes');
const STARTS = DEVICE_RESOURCES.indexOf('starts');
const HOT_ATOMICS = DEVICE_RESOURCES.indexOf('hotAtomics');
const ATOMICS = DEVICE_RESOURCES.indexOf('atomics');
const SECTOR_BYTES = 32;
/** DRAM answers L2 in pieces of two sectors, so a footprint is counted in these. */
const GRANULE_BYTES = 64;
/** Warp instructions traced of the first block and of the others; the rest of a block is taken to go on alike. */
const FIRST_TRACE_BUDGET = 60_000;
const TRACE_BUDGET = 30_000;

/** Traces a few blocks of a launch. The first and last block bound the address spans, the others are typical. */
export function profileLaunch(
  executor: Executor,
  launch: ExecutorLaunch,
  profile: DeviceProfile,
  blocksPerSm: number,
  lo: number,
  hi: number,
  sharedBytesPerBlock: number,
): KernelProfile {
  const blocks = sampleBlocks(lo, hi, profile.sms);
  const threads = launch.shape.block[0] * launch.shape.block[1] * launch.shape.block[2];
  const warps = Math.ceil(threads / profile.warpSize);
  if (executor.trace === undefined) return emptyProfile(launch, profile);

  const resident = Math.min(blocksPerSm, Math.ceil((hi - lo) / profile.sms));
  const l1Bytes = Math.max(0, profile.memory.l1Bytes - sharedBytesPerBlock * resident) / resident;
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
  // The first and the last block bound spans only; of the pair on one SM, the second knows what they share.
  const whole = resident > 1 && traced.length > 2 ? traced.slice(1, 2) : traced.slice(0, 1);
  const mean = (of: (block: TracedBlock) => number): number =>
    whole.reduce((sum, block) => sum + of(block), 0) / whole.length;
  const device = DEVICE_RESOURCES.map((_, resource) => mean((block) => block.device[resource]));
  device[STARTS] = 1;
  device[HOT_ATOMICS] = hotAtomics(traced, gridBlocks);
  const footprint = mean(footprintBytes);
  return {
    work: {
      sm: SM_RESOURCES.map((_, resource) => mean((block) => block.sm[resource])),
      device,
      chainCycles: mean((block) => block.chainL2Cycles),
      warps: traced[0].warps,
    },
    chainDramCycles: mean((block) => block.chainDramCycles),
    warpInstructions: mean((block) => block.warpInstructions),
    blockFootprintBytes: footprint,
    uses: segmentUses(traced, launch, gridBlocks),
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

function footprintBytes(block: TracedBlock): number {
  let bytes = 0;
  for (const segment of new Set([...block.loaded.keys(), ...block.stored.keys()])) {
    bytes += merged(block.loaded.get(segment), block.stored.get(segment)).size * GRANULE_BYTES;
  }
  return bytes;
}

function segmentUses(
  traced: readonly TracedBlock[],
  launch: ExecutorLaunch,
  gridBlocks: number,
): SegmentUse[] {
  const segments = new Set<number>();
  for (const block of traced)
    for (const key of [...block.loaded.keys(), ...block.stored.keys()]) segments.add(key);
  return [...segments]
    .sort((a, b) => a - b)
    .map((segment) => {
      const limit = launch.module.space.find(segment)?.bytes ?? Infinity;
      const extent = (of: (block: TracedBlock) => ReadonlySet<number> | undefined): number =>
        Math.min(limit, gridBytes(traced.map(of), gridBlocks));
      return {
        segment,
        readBytes: extent((block) => block.loaded.get(segment)),
        writtenBytes: extent((block) => block.stored.get(segment)),
        footprintBytes: extent((block) => merged(block.loaded.get(segment), block.stored.get(segment))),
      };
    });
}

/**
 * Distinct bytes of a whole grid from a few blocks' granules. Blocks that share everything touch what one touches;
 * others at most the sum of all, and at most the span between the lowest and the highest sector seen.
 */
function gridBytes(blocks: readonly (ReadonlySet<number> | undefined)[], gridBlocks: number): number {
  const union = new Set<number>();
  let sum = 0;
  let most = 0;
  let low = Infinity;
  let high = -Infinity;
  for (const sectors of blocks) {
    const size = sectors?.size ?? 0;
    sum += size;
    most = Math.max(most, size);
    for (const sector of sectors ?? []) {
      union.add(sector);
      if (sector < low) low = sector;
      if (sector > high) high = sector;
    }
  }
  if (union.size === 0) return 0;
  if (blocks.length > 1 && union.size <= most * 1.05) return union.size * GRANULE_BYTES;
  const apart = (sum / blocks.length) * gridBlocks;
  return Math.min(apart, high - low + 1) * GRANULE_BYTES;
}

function merged(a: ReadonlySet<number> | undefined, b: ReadonlySet<number> | undefined): Set<number> {
  return new Set([...(a ?? []), ...(b ?? [])]);
}

function emptyProfile(launch: ExecutorLaunch, profile: DeviceProfile): KernelProfile {
  const threads = launch.shape.block[0] * launch.shape.block[1] * launch.shape.block[2];
  const device = DEVICE_RESOURCES.map((_, index) => (index === STARTS ? 1 : 0));
  return {
    work: {
      sm: SM_RESOURCES.map(() => 0),
      device,
      chainCycles: profile.timing.blockStartCycles,
      warps: Math.ceil(threads / profile.warpSize),
    },
    chainDramCycles: profile.timing.blockStartCycles,
    warpInstructions: 0,
    blockFootprintBytes: 0,
    uses: [],
    l2TrafficBytes: 0,
  };
}

/** How a launch's traffic splits between L2 and DRAM, given what L2 holds when it starts. */
export interface TrafficPlan {
  readonly dramBytesPerBlock: number;
  /** Share of L1 misses that go on to DRAM. */
  readonly dramShare: number;
  /** The scale it was made for. */
  readonly scale: number;
  readonly touched: readonly { readonly key: string; readonly bytes: number }[];
}

export function planTraffic(
  kernel: KernelProfile,
  l2: L2State,
  device: DeviceProfile,
  keyOf: (segment: number) => string,
  gridBlocks: number,
  residentBlocks: number,
  otherFootprintBytes: number,
  /** How much more than the traced blocks the launch's blocks execute. */
  scale: number,
): TrafficPlan {
  const curve = device.timing.l2MissCurve;
  const footprint = kernel.uses.reduce((sum, use) => sum + use.footprintBytes, 0);
  const swept = missShare(curve, footprint + otherFootprintBytes);
  let dramBytes = 0;
  for (const use of kernel.uses) {
    const held = residentShare(l2, keyOf(use.segment), use.footprintBytes);
    // What was there and survives the sweep hits; the state already holds the sweep of an earlier equal launch.
    const missing = Math.max(swept, 1 - held);
    dramBytes += use.readBytes * missing + use.writtenBytes * swept;
  }
  // Traffic beyond the footprint is reuse; it misses when the blocks that run together touch more than L2 holds.
  const traffic = kernel.l2TrafficBytes * gridBlocks * scale;
  const compulsory = kernel.uses.reduce((sum, use) => sum + use.readBytes + use.writtenBytes, 0);
  const together = kernel.blockFootprintBytes * scale * residentBlocks;
  const reuseMiss = missShare(curve, Math.min(together * REUSE_DISTANCE, footprint));
  dramBytes += Math.max(0, traffic - compulsory) * reuseMiss;
  return {
    dramBytesPerBlock: dramBytes / gridBlocks,
    dramShare: traffic > 0 ? Math.min(1, dramBytes / traffic) : 0,
    scale,
    touched: kernel.uses.map((use) => ({ key: keyOf(use.segment), bytes: use.footprintBytes })),
  };
}

/** Part of the footprint of all resident blocks that is touched, on average, between two uses of a sector. */
const REUSE_DISTANCE = 0.65;

/** The work of a block that executed `counters` a block, under a traffic plan. */
export function blockWork(
  kernel: KernelProfile,
  plan: TrafficPlan,
  counters: ExecutionCounters,
  profile: DeviceProfile,
): BlockWork {
  const perBlock = counters.warpInstructions / Math.max(1, counters.blocks);
  const base = withPlan(kernel, plan);
  if (kernel.warpInstructions > 0) {
    const factor = perBlock / kernel.warpInstructions;
    const scaled = scaleWork(base, factor);
    // The plan's DRAM bytes are a share of the whole grid's already; a block that exits early has less.
    const device = [...scaled.device];
    device[DRAM_BYTES] = plan.dramBytesPerBlock * Math.min(1, factor / plan.scale);
    return { ...scaled, device };
  }
  return countedWork(base, counters, profile);
}

/**
 * Work from counters alone, for an executor that cannot trace: a slot for every instruction, every byte from L2, and a
 * chain in which each global load of a warp waits for the one before.
 */
function countedWork(base: BlockWork, counters: ExecutionCounters, device: DeviceProfile): BlockWork {
  const blocks = Math.max(1, counters.blocks);
  const { timing } = device;
  const { byClass } = counters;
  const instructions = counters.warpInstructions / blocks;
  const bytes = (counters.globalLoadBytes + counters.globalStoreBytes) / blocks;
  const requests = (byClass.globalLoad + byClass.globalStore + byClass.shared + byClass.atomic) / blocks;
  const sm = [...base.sm];
  sm[SM_RESOURCES.indexOf('issue')] = instructions;
  sm[SM_RESOURCES.indexOf('data')] = requests;
  sm[SM_RESOURCES.indexOf('l2Port')] = bytes;
  const shared = [...base.device];
  shared[L2_BYTES] = bytes;
  shared[ATOMICS] = (byClass.atomic / blocks) * device.warpSize;
  const loads = byClass.globalLoad / blocks / base.warps;
  const chainCycles =
    base.chainCycles + loads * timing.latency.l2 + (instructions / base.warps) * (timing.latency.alu / 2);
  return { ...base, sm, device: shared, chainCycles };
}

function withPlan(kernel: KernelProfile, plan: TrafficPlan): BlockWork {
  const device = [...kernel.work.device];
  device[DRAM_BYTES] = plan.dramBytesPerBlock;
  const chainCycles =
    kernel.work.chainCycles * (1 - plan.dramShare) + kernel.chainDramCycles * plan.dramShare;
  return { ...kernel.work, device, chainCycles };
}
