import type { ExecutionCounters } from '../../executor/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import { DEVICE_RESOURCES, SM_RESOURCES, scaleWork, type BlockWork } from './blockWork.js';
import { ROW_PIECE_BYTES, WHOLE_ROWS } from './dramRows.js';
import type { KernelProfile, ProfiledBlock } from './kernelProfile.js';
import { missShare, randomMissShare, residentShare, type L2State } from './l2State.js';
import type { SegmentUse } from './segmentPattern.js';

const L2_BYTES = DEVICE_RESOURCES.indexOf('l2Bytes');
const DRAM_BYTES = DEVICE_RESOURCES.indexOf('dramBytes');
const DRAM_ROWS = DEVICE_RESOURCES.indexOf('dramRows');
const HOT_ATOMICS = DEVICE_RESOURCES.indexOf('hotAtomics');
const ATOMICS = DEVICE_RESOURCES.indexOf('atomics');

/** How a launch's traffic splits between L2 and DRAM, given what L2 holds when it starts. */
export interface TrafficPlan {
  readonly dramBytesPerBlock: number;
  /** Rows of DRAM's that are opened for them, by pieces; what is written counts as more. */
  readonly dramRowsPerBlock: number;
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
  uses: readonly SegmentUse[],
  /** Distinct bytes of the blocks that are resident together. */
  togetherBytes: number,
  /** Name in L2 of each use's segment. */
  keys: readonly string[],
  gridBlocks: number,
  otherFootprintBytes: number,
  /** How much more than the traced blocks the launch's blocks execute. */
  scale: number,
): TrafficPlan {
  const { l2MissCurve: curve, dramRowWriteWeight } = device.timing;
  const footprint = uses.reduce((sum, use) => sum + use.footprintBytes, 0);
  const swept = missShare(curve, footprint + otherFootprintBytes);
  let dramBytes = 0;
  let dramRows = 0;
  let scatteredBytes = 0;
  let scatteredUse = 0;
  uses.forEach((use, index) => {
    const held = residentShare(l2, keys[index], use.footprintBytes);
    // What was there and survives the sweep hits; the state already holds the sweep of an earlier equal launch.
    const missing = Math.max(swept, 1 - held);
    const once = use.readBytes * missing + use.writtenBytes * swept;
    dramBytes += once;
    const { perReadByte, perWrittenByte, storedBytes } = use.rows ?? WHOLE_ROWS;
    // What nobody fills is read first.
    const unfilled =
      use.writtenBytes > 0 ? 1 - Math.min(1, (storedBytes * gridBlocks * scale) / use.writtenBytes) : 0;
    // Pieces that other blocks fill up are opened once, unless they come there at random.
    const isByChance = use.scattered !== undefined && use.scattered.farShare === undefined;
    const pieces = isByChance ? Infinity : (use.spanBytes ?? Infinity) / ROW_PIECE_BYTES;
    dramRows += Math.min(use.readBytes * perReadByte, pieces) * missing;
    dramRows += Math.min(use.writtenBytes * perWrittenByte, pieces) * swept * (dramRowWriteWeight + unfilled);
    if (use.scattered === undefined) return;
    // A use beyond the first finds what chance left there, or what others have used shortly before. What is asked for often is
    // there while little else goes by.
    const asked = use.scattered.dramBytes * gridBlocks * scale;
    const { farShare } = use.scattered;
    const between =
      (footprint + otherFootprintBytes - use.footprintBytes) * Math.min(1, use.footprintBytes / asked);
    const missed =
      farShare === undefined ? randomMissShare(curve, use.footprintBytes + between) : farShare * swept;
    const again = Math.max(0, asked - use.readBytes - use.writtenBytes) * missed;
    const partial = (use.scattered.partialBytes ?? 0) / Math.max(1, use.scattered.dramBytes);
    dramBytes += again;
    dramRows += again * ((1 - partial) * perReadByte + partial * perWrittenByte * (dramRowWriteWeight + 1));
    scatteredBytes += use.scattered.sectorBytes * gridBlocks * scale;
    scatteredUse += use.readBytes + use.writtenBytes;
  });
  // Traffic beyond the footprint is reuse; it misses when the blocks that run together touch more than L2 holds.
  const traffic = kernel.l2TrafficBytes * gridBlocks * scale;
  const compulsory = uses.reduce((sum, use) => sum + use.readBytes + use.writtenBytes, 0);
  const reuseMiss = missShare(curve, Math.min(togetherBytes * REUSE_DISTANCE, footprint));
  dramBytes += Math.max(0, traffic - scatteredBytes - (compulsory - scatteredUse)) * reuseMiss;
  return {
    dramBytesPerBlock: dramBytes / gridBlocks,
    dramRowsPerBlock: dramRows / gridBlocks,
    dramShare: traffic > 0 ? Math.min(1, dramBytes / traffic) : 0,
    scale,
    touched: uses.map((use, index) => ({ key: keys[index], bytes: use.footprintBytes })),
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
  const perBlock = executedOf(kernel, counters);
  if (kernel.warpInstructions === 0) {
    return countedWork(withPlan(kernel, plan, profile.clockHz), counters, profile);
  }
  const factor = perBlock / kernel.warpInstructions;
  const like = blockLike(kernel, perBlock);
  const scaled = scaleWork(withPlan(like, plan, profile.clockHz), perBlock / like.warpInstructions);
  const device = [...scaled.device];
  // The plan's DRAM bytes are a share of the whole grid's already; a block that exits early has less.
  const part = Math.min(1, factor / plan.scale);
  device[DRAM_BYTES] = plan.dramBytesPerBlock * part;
  device[DRAM_ROWS] = plan.dramRowsPerBlock * part;
  device[HOT_ATOMICS] = kernel.work.device[HOT_ATOMICS] * factor;
  return { ...scaled, device };
}

/** Warp instructions that a block of a launch executed, as far as timing counts them. */
export function executedOf(
  kernel: KernelProfile,
  { warpInstructions, blocks }: Pick<ExecutionCounters, 'warpInstructions' | 'blocks'>,
): number {
  return kernel.isTold === true ? kernel.warpInstructions : warpInstructions / Math.max(1, blocks);
}

/** The traced block whose length comes next to that of a block. */
export function blockLike(kernel: KernelProfile, length: number): ProfiledBlock {
  let like: ProfiledBlock = kernel;
  let apart = lengthRatio(kernel.warpInstructions, length);
  for (const other of kernel.others ?? []) {
    const ratio = lengthRatio(other.length, length);
    if (ratio >= apart) continue;
    like = other;
    apart = ratio;
  }
  return like;
}

export function lengthRatio(a: number, b: number): number {
  return Math.max(a, b) / Math.max(1, Math.min(a, b));
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

/** @param clockHz at which the chain's cycles were counted */
function withPlan(kernel: ProfiledBlock, plan: TrafficPlan, clockHz: number): BlockWork {
  const device = [...kernel.work.device];
  device[DRAM_BYTES] = plan.dramBytesPerBlock;
  device[DRAM_ROWS] = plan.dramRowsPerBlock;
  const { chainCycles } = kernel.work;
  const chainFixedNs = ((kernel.chainDramCycles - chainCycles) * plan.dramShare * 1e9) / clockHz;
  return { ...kernel.work, device, chainFixedNs };
}
