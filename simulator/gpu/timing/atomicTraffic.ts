import { SECTOR_BYTES } from '../../executor/index.js';
import { DEVICE_RESOURCES } from './blockWork.js';
import type { InstructionPlan } from './instructionPlan.js';
import type { TracedBlock } from './tracedBlock.js';

const ATOMICS = DEVICE_RESOURCES.indexOf('atomics');
const WARP_LANES = 32;
/** Bytes that one slice of L2 serves in a row: atomics on them wait for each other. */
const SLICE_BYTES = 512;

/**
 * Counts the atomic operations that L2 does for a warp: lanes on one sector go together; those on one address one after the
 * other.
 * @param floatTurns that an addition of floats takes behind another to its address
 */
export function countAtomics(
  traced: TracedBlock,
  plan: InstructionPlan,
  activeMask: number,
  addresses: Float64Array,
  floatTurns: number,
): void {
  if (plan.isAggregated) {
    add(traced, addresses[31 - Math.clz32(activeMask)], 1, plan.atomicWeight);
    return;
  }
  for (let lane = 0; lane < WARP_LANES; lane++) {
    if (((activeMask >>> lane) & 1) === 0) continue;
    const address = addresses[lane];
    if (plan.isRetried) traced.retried.set(address, (traced.retried.get(address) ?? 0) + 1);
    const turn = turnOf(lane, activeMask, addresses);
    if (goesAlong(lane, turn, activeMask, addresses)) continue;
    add(traced, address, plan.isFloatAtomic && turn > 0 ? floatTurns : 1, plan.atomicWeight);
  }
}

/** Whether a lane before this one takes the same turn of the same sector, at another address. */
function goesAlong(lane: number, turn: number, activeMask: number, addresses: Float64Array): boolean {
  const address = addresses[lane];
  const sector = Math.floor(address / SECTOR_BYTES);
  for (let other = 0; other < lane; other++) {
    const isBeside =
      ((activeMask >>> other) & 1) !== 0 &&
      addresses[other] !== address &&
      Math.floor(addresses[other] / SECTOR_BYTES) === sector;
    if (isBeside && turnOf(other, activeMask, addresses) === turn) return true;
  }
  return false;
}

/** Lanes before this one that want the same address. */
function turnOf(lane: number, activeMask: number, addresses: Float64Array): number {
  let turn = 0;
  for (let other = 0; other < lane; other++) {
    if (((activeMask >>> other) & 1) !== 0 && addresses[other] === addresses[lane]) turn += 1;
  }
  return turn;
}

function add(traced: TracedBlock, address: number, operations: number, weight: number): void {
  traced.device[ATOMICS] += weight;
  const slice = Math.floor(address / SLICE_BYTES);
  traced.atomics.set(slice, (traced.atomics.get(slice) ?? 0) + operations);
}

/** Notes a request to store to one word. Lanes that store to one address are one; those of other warps come behind it. */
export function countStoredWord(traced: TracedBlock, activeMask: number, addresses: Float64Array): void {
  const address = addresses[31 - Math.clz32(activeMask)];
  for (let lane = 0; lane < WARP_LANES; lane++) {
    if (((activeMask >>> lane) & 1) !== 0 && addresses[lane] !== address) return;
  }
  traced.storedWords.set(address, (traced.storedWords.get(address) ?? 0) + 1);
}
