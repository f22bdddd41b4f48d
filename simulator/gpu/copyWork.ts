import { blockFootprint, type BlockFootprint } from './occupancy/index.js';
import type { DeviceProfile } from './profiles/index.js';
import {
  DEVICE_RESOURCES,
  SM_RESOURCES,
  blockRates,
  capacities,
  rampedWork,
  type BlockWork,
} from './timing/index.js';

/** A copy inside device memory, or a fill, that SMs do: equal blocks of known work. */
export interface CopyWork {
  readonly blocks: number;
  readonly threads: number;
  readonly registers: number;
  readonly footprint: BlockFootprint;
  readonly work: BlockWork;
}

const THREADS = 512;
const REGISTERS = 32;
/** What a block moves at least, before there are more of them. */
const BLOCK_BYTES = 16 * 1024;
/** Beyond 2048 threads an SM has no room for more. */
const BLOCKS_PER_SM = 4;
/** Warp instructions for 512 bytes: a load or a store of 16 bytes a lane, and what goes around it. */
const INSTRUCTIONS_PER_ACCESS = 3;
/** Nothing is done in less. */
const MINIMUM_NS = 50;
/** Halvings of the span in which a block's chain is looked for: to a thousandth and better. */
const HALVINGS = 24;
/** Sizes remembered of each card; programs copy few. */
const KEPT = 64;

const kept = new WeakMap<DeviceProfile, Map<number, CopyWork>>();

/** @param isFill writes only */
export function copyWork(profile: DeviceProfile, bytes: number, isFill: boolean): CopyWork {
  let known = kept.get(profile);
  if (known === undefined) kept.set(profile, (known = new Map<number, CopyWork>()));
  const key = isFill ? -bytes : bytes;
  let copy = known.get(key);
  if (copy === undefined) {
    if (known.size >= KEPT) known.clear();
    known.set(key, (copy = makeCopy(profile, bytes, isFill)));
  }
  return copy;
}

function makeCopy(profile: DeviceProfile, bytes: number, isFill: boolean): CopyWork {
  const { copies, timing, memory, sms } = profile;
  const blocks = Math.max(1, Math.min(BLOCKS_PER_SM * sms, Math.ceil(bytes / BLOCK_BYTES)));
  const isCached = (isFill ? bytes : 2 * bytes) <= memory.l2Bytes;
  const perSecond = isFill
    ? copies.memsetBytesPerSecond
    : isCached
      ? copies.deviceToDeviceL2BytesPerSecond
      : copies.deviceToDeviceBytesPerSecond;
  const flowNs = (bytes / perSecond) * 1e9;
  // A block's first piece is bound by its SM; more pieces and blocks overlap, until what all share binds.
  const pieceNs = isFill ? 0 : (Math.min(bytes, BLOCK_BYTES) / copies.deviceToDeviceSmBytesPerSecond) * 1e9;
  const behindNs = timing.launchOverheadNs - timing.launchOverlapNs + timing.streamGapNs;
  const intervalNs = isFill ? copies.memsetIntervalNs : copies.deviceToDeviceIntervalNs;
  const aloneNs = Math.max(MINIMUM_NS, intervalNs - behindNs) + pieceNs + flowNs;
  return {
    blocks,
    threads: THREADS,
    registers: REGISTERS,
    footprint: blockFootprint(profile, THREADS, REGISTERS, 0),
    work: chained(sharedWork(profile, bytes, isFill, isCached, blocks, flowNs), profile, blocks, aloneNs),
  };
}

/** What the blocks ask of everything that they share with others. */
function sharedWork(
  profile: DeviceProfile,
  bytes: number,
  isFill: boolean,
  isCached: boolean,
  blocks: number,
  flowNs: number,
): BlockWork {
  const resource = isCached ? 'l2Bytes' : 'dramBytes';
  const moved = (isFill ? 0 : bytes) + bytes * (isCached ? profile.timing.storeWeightInL2 : 1);
  const capacity = capacities(profile, profile.clockHz).device[DEVICE_RESOURCES.indexOf(resource)];
  // Long rows of whole lines move faster than what kernels' bandwidth was fitted on; never more than was asked for.
  const amount = Math.min(moved, flowNs * capacity) / blocks;
  const instructions = ((isFill ? 1 : 2) * INSTRUCTIONS_PER_ACCESS * bytes) / (512 * blocks);
  return {
    sm: SM_RESOURCES.map((name) => (name === 'issue' ? instructions : 0)),
    device: DEVICE_RESOURCES.map((name) => (name === resource ? amount : 0)),
    chainCycles: 0,
    chainFixedNs: 0,
    warps: THREADS / profile.warpSize,
  };
}

/** The work with the chain that makes it take `aloneNs` with the card to itself; in company it shares as kernels do. */
function chained(work: BlockWork, profile: DeviceProfile, blocks: number, aloneNs: number): BlockWork {
  const { timing, clockHz, schedulersPerSm } = profile;
  const limits = capacities(profile, clockHz);
  const sms = Math.min(blocks, profile.sms);
  const perSm = Math.ceil(blocks / profile.sms);
  let low = 0;
  let high = aloneNs * (clockHz / 1e9);
  for (let step = 0; step < HALVINGS; step++) {
    const chainCycles = (low + high) / 2;
    const started = rampedWork({ ...work, chainCycles }, blocks, timing.blocksPerCycle);
    const [[rate]] = blockRates(
      [{ work: started, sms, perSm }],
      [{ members: [0] }],
      limits,
      timing.overlapExponent,
      schedulersPerSm,
    );
    if (1 / rate > aloneNs) high = chainCycles;
    else low = chainCycles;
  }
  return { ...work, chainCycles: Math.max(low, 1) };
}
