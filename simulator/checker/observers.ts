import type { InterpreterObserver } from '../executor/index.js';

/** One observer that tells several; hooks that none has are left out, so that the interpreter skips them. */
export function together(observers: readonly InterpreterObserver[]): InterpreterObserver {
  const combined: { -readonly [Hook in keyof InterpreterObserver]: InterpreterObserver[Hook] } = {};
  const blocks = observers.filter((each) => each.onBlock !== undefined);
  if (blocks.length > 0) combined.onBlock = (block) => blocks.forEach((each) => each.onBlock?.(block));
  const ends = observers.filter((each) => each.onBlockEnd !== undefined);
  if (ends.length > 0) combined.onBlockEnd = (block) => ends.forEach((each) => each.onBlockEnd?.(block));
  const steps = observers.filter((each) => each.onStep !== undefined);
  if (steps.length > 0) combined.onStep = (...step) => steps.forEach((each) => each.onStep?.(...step));
  const accesses = observers.filter((each) => each.onAccess !== undefined);
  if (accesses.length > 0) {
    combined.onAccess = (...access) => accesses.forEach((each) => each.onAccess?.(...access));
  }
  const remote = observers.filter((each) => each.onRemoteAccess !== undefined);
  if (remote.length > 0) {
    combined.onRemoteAccess = (...access) => remote.forEach((each) => each.onRemoteAccess?.(...access));
  }
  const clusters = observers.filter((each) => each.onClusterBarrier !== undefined);
  if (clusters.length > 0) {
    combined.onClusterBarrier = (...arrival) =>
      clusters.forEach((each) => each.onClusterBarrier?.(...arrival));
  }
  const passes = observers.filter((each) => each.onClusterPass !== undefined);
  if (passes.length > 0)
    combined.onClusterPass = (...pass) => passes.forEach((each) => each.onClusterPass?.(...pass));
  const faults = observers.filter((each) => each.onAccessFault !== undefined);
  if (faults.length > 0) {
    combined.onAccessFault = (...fault) => faults.some((each) => each.onAccessFault?.(...fault) === true);
  }
  const arrivals = observers.filter((each) => each.onBarrierArrive !== undefined);
  if (arrivals.length > 0) {
    combined.onBarrierArrive = (...arrival) => arrivals.forEach((each) => each.onBarrierArrive?.(...arrival));
  }
  const openings = observers.filter((each) => each.onBarrierOpen !== undefined);
  if (openings.length > 0) {
    combined.onBarrierOpen = (...opening) => openings.forEach((each) => each.onBarrierOpen?.(...opening));
  }
  const heaps = observers.filter((each) => each.onHeap !== undefined);
  if (heaps.length > 0) combined.onHeap = (...change) => heaps.forEach((each) => each.onHeap?.(...change));
  const meetings = observers.filter((each) => each.onWarpSync !== undefined);
  if (meetings.length > 0) {
    combined.onWarpSync = (...meeting) => meetings.forEach((each) => each.onWarpSync?.(...meeting));
  }
  return combined;
}
