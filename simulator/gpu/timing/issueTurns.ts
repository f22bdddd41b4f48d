import { SM_RESOURCES, type BlockWork, type Capacities } from './blockWork.js';
import type { RatedGroup } from './ratedGroup.js';

/** The first of SM_RESOURCES are handed out by the schedulers, warp by warp: issue slots and arithmetic units. */
export const SCHEDULED = SM_RESOURCES.indexOf('tensor') + 1;

/** Part of the slots that a younger launch finds however busy the older ones are. */
export const LEAST_LEFT = 0.02;
/** What warps of independent instructions do not use is mostly no use to others: units and banks are taken. */
const INDEPENDENT_EXPONENT = 2;
/** Slots that a younger warp with work at hand takes once it has its turn, while an older one has become ready. */
const BURST_SLOTS = 12.5;
/** Cycles from an instruction to the next that needs its result. */
const DEPENDENT_CYCLES = 4.5;
/** Instructions further apart than this wait for memory, and not for their turn. */
const LONG_CYCLES = 6;

/**
 * The part of a resource that is left for younger launches, of the part `free`, when a launch uses `used` of it.
 * @param independence of that launch's blocks
 */
export function leftOver(free: number, used: number, independence: number): number {
  if (used <= 0) return free;
  const exponent = 1 + (INDEPENDENT_EXPONENT - 1) * independence;
  return free * Math.max(LEAST_LEFT, (1 - Math.min(1, used / free)) ** exponent);
}

/** From 0, each instruction of a warp needs the one before, to 1, a warp need not leave its turn to another. */
export function independence({ sm, warps, chainCycles }: BlockWork): number {
  const inFlight = ((sm[0] / warps) * DEPENDENT_CYCLES) / chainCycles;
  return Math.min(1, Math.max(0, inFlight - 1));
}

/**
 * By how much an older launch whose warps depend on their own results waits longer, because each slot that it leaves goes
 * to a younger warp that then keeps its turn: as a part of its time. Nothing when it uses every slot, or none.
 */
export function burst(
  groups: readonly RatedGroup[],
  younger: readonly number[],
  soloNs: readonly number[],
  limits: Capacities,
  used: number,
): number {
  const spare = 1 - Math.min(1, used);
  if (younger.length === 0 || spare === 0) return 0;
  let eager = 0;
  for (const index of younger) {
    const { work, perSm } = groups[index];
    let wanted = 0;
    for (let resource = 0; resource < SCHEDULED; resource++) {
      wanted = Math.max(wanted, (work.sm[resource] * perSm) / soloNs[index] / limits.sm[resource]);
    }
    eager += (wanted / spare) * independence(work);
  }
  return BURST_SLOTS * Math.min(1, used) * spare * Math.min(1, eager);
}

/** How much of a block's time is spent from one instruction to the next that needs it, and not in waiting for memory. */
export function dependence(work: BlockWork): number {
  const apart = (work.chainCycles * work.warps) / Math.max(1, work.sm[0]);
  return Math.min(1, LONG_CYCLES / apart) * (1 - independence(work));
}
