import type { FunctionBuilder } from '../../../wasm/index.js';
import type { AccessCaches, MemorySurroundings } from '../accesses/index.js';
import { RECORD } from '../area/index.js';
import type { PassCounters } from '../counters/index.js';
import type { KernelPlan } from '../plan/index.js';
import type { ObservedRun } from './observedRun.js';
import type { RunningLane } from './runningLane.js';

/** What accesses of the running lane find around them. */
export function laneMemory(
  f: FunctionBuilder,
  plan: KernelPlan,
  lane: RunningLane,
  caches: AccessCaches,
  counters: PassCounters,
  observed: ObservedRun,
): MemorySurroundings {
  return {
    sharedLayout: plan.sharedLayout,
    localLayout: plan.localLayout,
    meetsInCluster: plan.meetsInCluster,
    caches,
    localBase: () => lane.localMemory,
    countBytes: (what, bytes) => {
      counters.countBytes(what, bytes);
    },
    leaveWithFault: (instruction) => {
      observed.leaveWithFault(instruction);
    },
    recordAccess: (instruction, kind, bytes, pushAddress) => {
      observed.record(instruction, kind, bytes, pushAddress);
    },
    noteWrite: (pushChanged) => {
      if (plan.takesTurns) noteWrite(f, pushChanged);
    },
  };
}

/** Tells whoever waits that something was written. */
function noteWrite(f: FunctionBuilder, pushChanged: (() => void) | undefined): void {
  f.area();
  if (pushChanged === undefined) f.i32(1);
  else {
    pushChanged();
    f.area().memory('i32Load', RECORD.wrote).op('i32Or');
  }
  f.memory('i32Store', RECORD.wrote);
}
