import type { DeviceTiming, TimingRule } from '../profiles/index.js';
import type { BlockWork } from './blockWork.js';
import type { InstructionPlan } from './instructionPlan.js';

/** The rules that a card's timing leaves out. */
export function rulesLeftOut({ withoutRules }: DeviceTiming): ReadonlySet<TimingRule> {
  return new Set(withoutRules);
}

/** Instructions as they are without some of the rules that tell them apart. */
export function plansWithout(
  rules: ReadonlySet<TimingRule>,
  plans: readonly InstructionPlan[],
  { alu }: DeviceTiming['latency'],
): readonly InstructionPlan[] {
  if (rules.size === 0) return plans;
  const plain = { slots: 1, pipe: undefined, pipeOps: 0, latencyCycles: alu };
  return plans.map((plan) => ({
    ...plan,
    ...(rules.has('instructionCosts') ? { cost: plain, pipeIndex: -1 } : {}),
    ...(rules.has('storeOrder') ? { order: -1 } : {}),
    ...(rules.has('barriers') ? { isBarrier: false } : {}),
    ...(rules.has('swapLoops') ? { isSwapLoop: false } : {}),
    ...(rules.has('warpAggregation') ? { isAggregated: false } : {}),
  }));
}

const LINE_BYTES = 128;

/** Addresses of the active lanes side by side from the start of the first one's line on: what one request serves best. */
export function sideBySide(activeMask: number, bytesPerLane: number, addresses: Float64Array): Float64Array {
  const first = 31 - Math.clz32(activeMask & -activeMask);
  const moved = new Float64Array(addresses.length);
  let next = Math.floor(addresses[first] / LINE_BYTES) * LINE_BYTES;
  for (let lane = first; lane < 32; lane++) {
    if (((activeMask >>> lane) & 1) === 0) continue;
    moved[lane] = next;
    next += bytesPerLane;
  }
  return moved;
}

/** What a block would have to take for the last wave of its grid to be as full as the others, all waves together. */
export function workWithoutWaves(work: BlockWork, blocks: number, capacity: number): BlockWork {
  if (blocks <= capacity) return work;
  const waves = blocks / capacity;
  const part = waves / Math.ceil(waves);
  return {
    ...work,
    sm: work.sm.map((amount) => amount * part),
    device: work.device.map((amount) => amount * part),
    chainCycles: work.chainCycles * part,
    chainFixedNs: work.chainFixedNs * part,
  };
}
