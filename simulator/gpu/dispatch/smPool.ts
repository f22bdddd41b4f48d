import type { BlockFootprint } from '../occupancy/index.js';
import type { DeviceProfile } from '../profiles/index.js';

/** What resident blocks hold of each SM. Plain data. */
export interface SmUse {
  readonly threads: Int32Array;
  readonly warps: Int32Array;
  readonly registers: Int32Array;
  readonly sharedBytes: Int32Array;
  readonly blocks: Int32Array;
  /** SMs that hold a block. */
  busySms: number;
}

export function emptySmUse(sms: number): SmUse {
  return {
    threads: new Int32Array(sms),
    warps: new Int32Array(sms),
    registers: new Int32Array(sms),
    sharedBytes: new Int32Array(sms),
    blocks: new Int32Array(sms),
    busySms: 0,
  };
}

/** More blocks of this kind that the SM can take now. */
export function room(profile: DeviceProfile, use: SmUse, sm: number, block: BlockFootprint): number {
  const { limits } = profile;
  return Math.min(
    Math.floor((limits.threadsPerSm - use.threads[sm]) / block.threads),
    limits.warpsPerSm - use.warps[sm] < block.warps
      ? 0
      : Math.floor((limits.warpsPerSm - use.warps[sm]) / block.warps),
    block.registers === 0
      ? Infinity
      : Math.floor((limits.registersPerSm - use.registers[sm]) / block.registers),
    Math.floor((limits.sharedPerSmBytes - use.sharedBytes[sm]) / Math.max(1, block.sharedBytes)),
    limits.blocksPerSm - use.blocks[sm],
  );
}

/** The same over several SMs, counted no further than to `most`. */
export function roomOn(
  profile: DeviceProfile,
  use: SmUse,
  sms: readonly number[],
  block: BlockFootprint,
  most: number,
): number {
  const { sharedBytes, warps } = use;
  const mostSharedBytes = profile.limits.sharedPerSmBytes - block.sharedBytes;
  const mostWarps = profile.limits.warpsPerSm - block.warps;
  let free = 0;
  for (const sm of sms) {
    // Most SMs that are asked are full: told without a division.
    if (sharedBytes[sm] > mostSharedBytes || warps[sm] > mostWarps) continue;
    const more = room(profile, use, sm, block);
    if (more <= 0) continue;
    free += more;
    if (free >= most) break;
  }
  return free;
}

/** Takes (`count` > 0) or gives back (`count` < 0) what `count` blocks hold. */
export function occupy(use: SmUse, sm: number, block: BlockFootprint, count: number): void {
  use.threads[sm] += block.threads * count;
  use.warps[sm] += block.warps * count;
  use.registers[sm] += block.registers * count;
  use.sharedBytes[sm] += block.sharedBytes * count;
  const before = use.blocks[sm];
  const after = before + count;
  use.blocks[sm] = after;
  if (before === 0) use.busySms += after > 0 ? 1 : 0;
  else if (after === 0) use.busySms -= 1;
}

/** SMs of the TPCs that the mask allows, in the order in which they are filled: one TPC of each GPC after the other. */
export function allowedSms(profile: DeviceProfile, tpcMask: bigint): readonly number[] {
  const order = fillOrder(profile);
  if (tpcMask < 0n) return order;
  return order.filter((sm) => ((tpcMask >> BigInt(Math.floor(sm / profile.smsPerTpc))) & 1n) === 1n);
}

/** Where each SM stands in the order in which SMs are filled. */
export function fillRanks(profile: DeviceProfile): Int32Array {
  const ranks = new Int32Array(profile.sms);
  fillOrder(profile).forEach((sm, rank) => (ranks[sm] = rank));
  return ranks;
}

const orders = new Map<string, number[]>();

function fillOrder(profile: DeviceProfile): readonly number[] {
  const known = orders.get(profile.name);
  if (known !== undefined) return known;
  const order: number[] = [];
  const most = Math.max(...profile.gpcTpcs);
  for (let inTpc = 0; inTpc < profile.smsPerTpc; inTpc++) {
    for (let position = 0; position < most; position++) {
      let firstTpc = 0;
      for (const tpcs of profile.gpcTpcs) {
        if (position < tpcs) order.push((firstTpc + position) * profile.smsPerTpc + inTpc);
        firstTpc += tpcs;
      }
    }
  }
  orders.set(profile.name, order);
  return order;
}

/**
 * Chooses SMs for up to `wanted` blocks, always the one with the fewest resident warps next, and takes their room.
 * @returns one SM a block, in block order.
 */
export function placeBlocks(
  profile: DeviceProfile,
  use: SmUse,
  sms: readonly number[],
  block: BlockFootprint,
  wanted: number,
): number[] {
  const empty = emptySms(profile, use, sms, block, wanted);
  if (empty.length === wanted) {
    for (const sm of empty) occupy(use, sm, block, 1);
    return empty;
  }
  const placed: number[] = [];
  // Buckets by resident warps: a level is filled across all SMs before the next one starts.
  const levels: number[][] = [];
  for (const sm of sms) {
    if (room(profile, use, sm, block) <= 0) continue;
    (levels[use.warps[sm]] ??= []).push(sm);
  }
  for (let level = 0; level < levels.length && placed.length < wanted; level++) {
    for (const sm of levels[level] ?? []) {
      if (placed.length >= wanted) break;
      occupy(use, sm, block, 1);
      placed.push(sm);
      if (room(profile, use, sm, block) > 0) (levels[use.warps[sm]] ??= []).push(sm);
    }
  }
  return placed;
}

/** The first SMs that hold nothing: with one block each for all that are wanted, there is no more to choose. */
function emptySms(
  profile: DeviceProfile,
  use: SmUse,
  sms: readonly number[],
  block: BlockFootprint,
  wanted: number,
): number[] {
  const found: number[] = [];
  for (const sm of sms) {
    if (found.length >= wanted) break;
    if (use.warps[sm] === 0 && room(profile, use, sm, block) > 0) found.push(sm);
  }
  return found;
}
