import type { DeviceProfile } from '../profiles/index.js';
import { SLICE_BYTES, addressOfPart, busySlices, type Parts } from './l2Slices.js';
import { linkCycles } from './signals.js';
import type { TracedBlock } from './tracedBlock.js';
import { rulesLeftOut } from './withoutRules.js';

/** The launch that the traced blocks are of. */
export interface ContendedGrid {
  readonly profile: DeviceProfile;
  readonly gridBlocks: number;
  /** Blocks that are on the device at once. */
  readonly residentBlocks: number;
  /** Bytes of the segment that an address lies in. */
  readonly bytesOf: (address: number) => number;
}

/** Turns that a block adds to what is busiest of all that L2 does one after the other, in atomic operations on one address. */
export function busiestTurns(traced: readonly TracedBlock[], grid: ContendedGrid): number {
  const { timing } = grid.profile;
  const isQueued = !rulesLeftOut(timing).has('storeQueue');
  const storeTurns = timing.atomicsPerAddressPerCycle / timing.storesPerAddressPerCycle;
  return Math.max(
    hottest(traced, grid, ({ atomics }) => atomics),
    spread(traced, grid),
    hottest(traced, grid, ({ floatSums }) => floatSums) * timing.floatAtomicTurns,
    isQueued ? hottest(traced, grid, ({ storedWords }) => storedWords) * storeTurns : 0,
    swaps(traced, grid),
    chained(traced, grid),
  );
}

/**
 * Operations a block adds to the busiest address. An address that several sampled blocks use is taken to be
 * everybody's; one that a single block uses is that block's own.
 */
function hottest(
  traced: readonly TracedBlock[],
  { gridBlocks }: ContendedGrid,
  operationsOf: (block: TracedBlock) => ReadonlyMap<number, number>,
): number {
  const users = new Map<number, { blocks: number; operations: number }>();
  for (const block of traced) {
    for (const [address, operations] of operationsOf(block)) {
      const user = users.get(address) ?? { blocks: 0, operations: 0 };
      user.blocks += 1;
      user.operations += operations;
      users.set(address, user);
    }
  }
  let most = 0;
  for (const { blocks, operations } of users.values()) {
    const share = blocks > 1 || traced.length === 1 ? operations / traced.length : operations / gridBlocks;
    most = Math.max(most, share);
  }
  return most;
}

/** The same of a buffer so small that blocks which were not sampled must meet in it. */
function spread(traced: readonly TracedBlock[], grid: ContendedGrid): number {
  const operations = meanOf(traced, ({ atomics }) => sumOf(atomics));
  if (operations === 0) return 0;
  const parts = partsOf(traced, grid, ({ atomics }) => new Set(atomics.keys()));
  return operations / busySlices(parts, grid.profile.timing);
}

/**
 * Loops of compare and swap: of all that try a word, one gets through at a time, and the next only after somebody has seen what
 * the word holds now and has come back with it, behind the tries of the others.
 */
function swaps(traced: readonly TracedBlock[], grid: ContendedGrid): number {
  const { gridBlocks, residentBlocks, profile } = grid;
  const { timing } = profile;
  const winsOfBlock = meanOf(traced, ({ swapLoops }) => sumOf(swapLoops.wins));
  if (winsOfBlock === 0) return 0;
  const { wordBytes } = traced[0].swapLoops;
  const words = placesOf(traced, grid, ({ swapLoops }) => new Set(swapLoops.wins.keys()), wordBytes);
  const parts = partsOf(traced, grid, ({ swapLoops }) => swapLoops.slices);
  const wins = (winsOfBlock * gridBlocks) / words;
  if (wins < 1) return 0;
  const rivals = (meanOf(traced, ({ swapLoops }) => swapLoops.lanesAtOnce) * residentBlocks) / words;
  const turns = meanOf(traced, ({ swapLoops }) => swapLoops.turnsAtOnce) * residentBlocks;
  const passCycles = turns / busySlices(parts, timing) / timing.atomicsPerAddressPerCycle;
  if (traced[0].swapLoops.mayGiveUp) {
    // Whoever succeeds leaves half of the others nothing to do.
    const cycles = 2 * passCycles + Math.log2(1 + Math.min(rivals, wins)) * timing.latency.atomic;
    return (cycles * timing.atomicsPerAddressPerCycle) / gridBlocks;
  }
  // Towards the end there are fewer and fewer.
  const part = 1 - Math.min(rivals, wins) / (2 * wins);
  const waits = timing.swapPassShare * passCycles * part;
  const held = meanOf(traced, ({ swapLoops }) => swapLoops.heldCycles) / winsOfBlock;
  const way = (timing.latency.atomic ** SWAP_EXPONENT + waits ** SWAP_EXPONENT) ** (1 / SWAP_EXPONENT);
  const cycles = Math.max(way, held);
  return (wins * cycles * timing.atomicsPerAddressPerCycle) / gridBlocks;
}

/** Blocks that each wait for the one before it come one after the other. */
function chained(traced: readonly TracedBlock[], { profile }: ContendedGrid): number {
  const [{ block, signals }] = traced;
  const before = traced.find((other) => other.block === block - 1);
  if (before === undefined) return 0;
  const { timing } = profile;
  return linkCycles(before.signals, signals, timing.latency.atomic / 2) * timing.atomicsPerAddressPerCycle;
}

/** Joins the way to L2 and back with the wait there. */
const SWAP_EXPONENT = 1.5;

/**
 * Places that the whole grid uses: those of the sampled blocks if they use the same, else as many more as it has blocks, as far
 * as there is room.
 * @param bytes of a place
 * @param addressOf a place, unless it is one itself
 */
function placesOf(
  traced: readonly TracedBlock[],
  { gridBlocks, bytesOf }: ContendedGrid,
  of: (block: TracedBlock) => ReadonlySet<number>,
  bytes: number,
  addressOf = (place: number): number => place,
): number {
  const each = traced.map(of);
  const all = new Set(each.flatMap((places) => [...places]));
  const most = Math.max(...each.map(({ size }) => size));
  if (traced.length === 1 || all.size === most) return Math.max(1, all.size);
  const [first] = all;
  const room = Math.max(1, bytesOf(addressOf(first)) / bytes);
  return Math.max(1, Math.min(room, Math.max(all.size, most * gridBlocks)));
}

/** The same of what goes to one slice each. */
function partsOf(
  traced: readonly TracedBlock[],
  grid: ContendedGrid,
  of: (block: TracedBlock) => ReadonlySet<number>,
): Parts {
  const isDense = traced.every((block) => {
    const parts = [...of(block)];
    return Math.max(...parts) - Math.min(...parts) < SIDE_BY_SIDE * parts.length;
  });
  return { count: placesOf(traced, grid, of, SLICE_BYTES, addressOfPart), isDense };
}

/** Of what lies side by side less than a third is left out. */
const SIDE_BY_SIDE = 1.5;

function meanOf(traced: readonly TracedBlock[], of: (block: TracedBlock) => number): number {
  return traced.reduce((sum, block) => sum + of(block), 0) / traced.length;
}

function sumOf(counts: ReadonlyMap<number, number>): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}
