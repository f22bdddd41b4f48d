import { SECTOR_BYTES, type RequestShape } from '../../executor/index.js';
import type { DeviceTiming } from '../profiles/index.js';
import { DEVICE_RESOURCES } from './blockWork.js';
import type { InstructionPlan } from './instructionPlan.js';
import { slicePart } from './l2Slices.js';
import { sectorAddress } from './lineTable.js';
import type { TracedBlock } from './tracedBlock.js';

const ATOMICS = DEVICE_RESOURCES.indexOf('atomics');
const WARP_LANES = 32;
const LINE_BYTES = 128;
const DOUBLE_BYTES = 8;

/**
 * Counts the atomic operations that L2 does for a warp: lanes on one sector go together; those on one address one after the
 * other.
 */
export function countAtomics(
  traced: TracedBlock,
  plan: InstructionPlan,
  warp: number,
  activeMask: number,
  addresses: Float64Array,
  bytesPerLane: number,
  timing: DeviceTiming,
): void {
  if (plan.isAggregated) {
    add(traced, addresses[31 - Math.clz32(activeMask)], 1, weightOf(plan, timing, false));
    return;
  }
  if (plan.isRetried) traced.swapLoops.begin(warp, bytesPerLane, plan.mayGiveUp);
  for (let lane = 0; lane < WARP_LANES; lane++) {
    if (((activeMask >>> lane) & 1) === 0) continue;
    const address = addresses[lane];
    if (plan.isRetried) traced.swapLoops.addLane(address);
    if (plan.isFloatAtomic) traced.floatSums.set(address, (traced.floatSums.get(address) ?? 0) + 1);
    const turn = turnOf(lane, activeMask, addresses);
    const words = wordsBefore(lane, turn, activeMask, addresses);
    if (words.isFollowing) continue;
    const turns = turnsOf(plan, bytesPerLane, words.count, timing);
    add(traced, address, turns, weightOf(plan, timing, words.isFurther));
    if (plan.isRetried) traced.swapLoops.addTurns(address, turns);
  }
}

/**
 * What an operation takes of L2, against one whose result nobody waits for. A request of a line's first sector has room for
 * both operands of a swap.
 */
function weightOf({ isSwap, isReturned }: InstructionPlan, timing: DeviceTiming, isFurther: boolean): number {
  if (isSwap && isFurther) return timing.furtherSwapWeight;
  return isSwap || isReturned ? timing.atomicResultWeight : 1;
}

/** Turns of a slice that so many words of one sector take together. */
function turnsOf(plan: InstructionPlan, bytes: number, words: number, timing: DeviceTiming): number {
  if (plan.isSwap) return words > 1 ? timing.swapTurns : 1;
  const isDouble = plan.isFloatAtomic && bytes === DOUBLE_BYTES;
  return isDouble ? 1 + (words - 1) * timing.furtherDoubleTurns : 1;
}

/**
 * Words of a lane's sector that lanes want in the same turn, whether one before it is the first of them, and whether one before
 * it wants another sector of the line.
 */
function wordsBefore(
  lane: number,
  turn: number,
  activeMask: number,
  addresses: Float64Array,
): { readonly count: number; readonly isFollowing: boolean; readonly isFurther: boolean } {
  const sector = Math.floor(addresses[lane] / SECTOR_BYTES);
  const line = Math.floor(addresses[lane] / LINE_BYTES);
  let count = 1;
  let isFollowing = false;
  let isFurther = false;
  for (let other = 0; other < WARP_LANES; other++) {
    const isInLine =
      ((activeMask >>> other) & 1) !== 0 &&
      addresses[other] !== addresses[lane] &&
      Math.floor(addresses[other] / LINE_BYTES) === line;
    if (!isInLine || turnOf(other, activeMask, addresses) !== turn) continue;
    const isBeside = Math.floor(addresses[other] / SECTOR_BYTES) === sector;
    if (isBeside) count += 1;
    if (other > lane) continue;
    if (isBeside) isFollowing = true;
    else isFurther = true;
  }
  return { count, isFollowing, isFurther };
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
  const slice = slicePart(address);
  traced.atomics.set(slice, (traced.atomics.get(slice) ?? 0) + operations);
}

/** Notes a look at what others are to write: L2 answers those at one word one after the other, as it does what changes it. */
export function countLook(traced: TracedBlock, { lines, lineNumbers, sectorMasks }: RequestShape): void {
  for (let index = 0; index < lines; index++) {
    const slice = slicePart(sectorAddress(lineNumbers[index], sectorMasks[index]));
    traced.atomics.set(slice, (traced.atomics.get(slice) ?? 0) + 1);
  }
}

/** Notes a request to store to one word. Lanes that store to one address are one; those of other warps come behind it. */
export function countStoredWord(traced: TracedBlock, activeMask: number, addresses: Float64Array): void {
  const address = addresses[31 - Math.clz32(activeMask)];
  for (let lane = 0; lane < WARP_LANES; lane++) {
    if (((activeMask >>> lane) & 1) !== 0 && addresses[lane] !== address) return;
  }
  traced.storedWords.set(address, (traced.storedWords.get(address) ?? 0) + 1);
}
