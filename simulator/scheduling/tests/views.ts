import type { DeviceView, LaunchView, PreemptionCosts } from '../index.js';

export function launch(id: number, change: Partial<LaunchView> = {}): LaunchView {
  return {
    id,
    context: 1,
    kernel: 'k',
    priority: 0,
    arrivedNs: id,
    lo: 0,
    hi: 10,
    next: 0,
    residentBlocks: 0,
    doneBlocks: 0,
    tpcMask: -1n,
    kills: 0,
    savedBlocks: 0,
    isMoving: false,
    ...change,
  };
}

export const COSTS: PreemptionCosts = {
  contextBytes: 1e6,
  canKill: false,
  killNs: 1_000,
  lostNs: 5_000,
  saveNs: 20_000,
  drainNs: 100_000,
};

/** @param fits blocks that fit, by launch; those that are restored always do */
export function view(
  launches: LaunchView[],
  fits: Record<number, number>,
  {
    nowNs = 0,
    costs = {},
    comes = () => false,
  }: { nowNs?: number; costs?: Partial<PreemptionCosts>; comes?: DeviceView['comes'] } = {},
): DeviceView {
  return {
    nowNs,
    tpcs: 66,
    launches,
    comes,
    fits: (id) => fits[id] ?? 0,
    canRestore: () => true,
    costs: () => ({ ...COSTS, ...costs }),
  };
}
