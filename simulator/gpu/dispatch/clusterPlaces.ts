import type { BlockFootprint } from '../occupancy/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import { occupy, placeBlocks, room, roomOn, type SmUse } from './smPool.js';

/** SMs of the clusters' GPCs: a cluster's blocks are on those of one. */
const gpcs = new Map<string, Int32Array>();

/** The GPC of each SM. */
function gpcOfSm(profile: DeviceProfile): Int32Array {
  let found = gpcs.get(profile.name);
  if (found?.length !== profile.sms) {
    found = Int32Array.from(
      profile.gpcTpcs.flatMap((tpcs, gpc) => new Array<number>(tpcs * profile.smsPerTpc).fill(gpc)),
    );
    gpcs.set(profile.name, found);
  }
  return found;
}

function byGpc(profile: DeviceProfile, sms: readonly number[]): readonly (readonly number[])[] {
  const of = gpcOfSm(profile);
  const lists: number[][] = profile.gpcTpcs.map(() => []);
  for (const sm of sms) lists[of[sm] ?? 0]?.push(sm);
  return lists;
}

/** Blocks that there is room for, in whole clusters; counted no further than to `most`. */
export function clusterRoom(
  profile: DeviceProfile,
  use: SmUse,
  sms: readonly number[],
  block: BlockFootprint,
  size: number,
  most: number,
): number {
  if (size === 1) return roomOn(profile, use, sms, block, most);
  let blocks = 0;
  for (const inGpc of byGpc(profile, sms)) {
    const free = roomOn(profile, use, inGpc, block, most - blocks + size);
    blocks += Math.floor(free / size) * size;
    if (blocks >= most) break;
  }
  return Math.min(blocks, Math.floor(most / size) * size);
}

/**
 * Chooses SMs for up to `wanted` blocks in clusters of `size`, and takes their room: a cluster goes where its GPC has the most room, its
 * blocks to the SMs with the fewest resident warps.
 * @returns one SM a block, in block order
 */
export function placeClusters(
  profile: DeviceProfile,
  use: SmUse,
  sms: readonly number[],
  block: BlockFootprint,
  size: number,
  wanted: number,
): number[] {
  if (size === 1) return placeBlocks(profile, use, sms, block, wanted);
  const lists = byGpc(profile, sms);
  const free = lists.map((inGpc) =>
    inGpc.reduce((sum, sm) => sum + Math.max(0, room(profile, use, sm, block)), 0),
  );
  const placed: number[] = [];
  while (placed.length + size <= wanted) {
    const best = free.reduce((most, blocks, gpc) => (blocks > (free[most] ?? 0) ? gpc : most), 0);
    const inGpc = lists[best];
    if (inGpc === undefined || (free[best] ?? 0) < size) break;
    const chosen = placeBlocks(profile, use, inGpc, block, size);
    if (chosen.length < size) {
      for (const sm of chosen) occupy(use, sm, block, -1);
      free[best] = 0;
      continue;
    }
    free[best] = (free[best] ?? 0) - size;
    placed.push(...chosen);
  }
  return placed;
}
