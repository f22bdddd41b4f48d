import { blockFootprint, type BlockFootprint } from './occupancy/index.js';
import type { DeviceProfile } from './profiles/index.js';
import { DEVICE_RESOURCES, SM_RESOURCES, capacities, type BlockWork } from './timing/index.js';

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

/** @param isFill writes only */
export function copyWork(profile: DeviceProfile, bytes: number, isFill: boolean): CopyWork {
  const { copies, timing, memory, clockHz, sms } = profile;
  const blocks = Math.max(1, Math.min(BLOCKS_PER_SM * sms, Math.ceil(bytes / BLOCK_BYTES)));
  const isCached = !isFill && 2 * bytes <= memory.l2Bytes;
  const perSecond = isFill
    ? copies.memsetBytesPerSecond
    : isCached
      ? copies.deviceToDeviceL2BytesPerSecond
      : copies.deviceToDeviceBytesPerSecond;
  const resource = isCached || (isFill && bytes <= memory.l2Bytes) ? 'l2Bytes' : 'dramBytes';
  const moved =
    bytes * (isFill ? 1 : 2) + (resource === 'l2Bytes' ? bytes * (timing.storeWeightInL2 - 1) : 0);
  const limits = capacities(profile, clockHz);
  const capacity = limits.device[DEVICE_RESOURCES.indexOf(resource)];
  const flowNs = (bytes / perSecond) * 1e9;
  // Long rows of whole lines move faster than what kernels' bandwidth was fitted on; never more than was asked for.
  const amount = Math.min(moved, flowNs * capacity);
  const behindNs = timing.launchOverheadNs - timing.launchOverlapNs + timing.streamGapNs;
  const intervalNs = isFill ? copies.memsetIntervalNs : copies.deviceToDeviceIntervalNs;
  // A block's first piece is bound by its SM; more pieces and blocks overlap, until what all share binds.
  const pieceNs = isFill ? 0 : (Math.min(bytes, BLOCK_BYTES) / copies.deviceToDeviceSmBytesPerSecond) * 1e9;
  const aloneNs = Math.max(MINIMUM_NS, intervalNs - behindNs) + pieceNs + flowNs;
  // Alone, the chain and the resource together take just that; in company the resource is shared as with kernels.
  const p = timing.overlapExponent;
  const chainNs = (aloneNs ** p - (amount / capacity) ** p) ** (1 / p);
  const rampCycles = blocks / timing.blocksPerCycle;
  return {
    blocks,
    threads: THREADS,
    registers: REGISTERS,
    footprint: blockFootprint(profile, THREADS, REGISTERS, 0),
    work: {
      sm: SM_RESOURCES.map((name) =>
        name === 'issue' ? ((isFill ? 1 : 2) * INSTRUCTIONS_PER_ACCESS * bytes) / (512 * blocks) : 0,
      ),
      device: DEVICE_RESOURCES.map((name) => (name === resource ? amount / blocks : 0)),
      chainCycles: Math.max(MINIMUM_NS, chainNs * (clockHz / 1e9) - rampCycles),
      chainFixedNs: 0,
      warps: THREADS / profile.warpSize,
    },
  };
}
