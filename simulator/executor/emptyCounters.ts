import type { ExecutionCounters, InstructionClass } from './types.js';

export function emptyByClass(): Record<InstructionClass, number> {
  return {
    integer: 0,
    float32: 0,
    float64: 0,
    special: 0,
    convert: 0,
    control: 0,
    globalLoad: 0,
    globalStore: 0,
    shared: 0,
    local: 0,
    constant: 0,
    atomic: 0,
    barrier: 0,
    warp: 0,
  };
}

export function emptyCounters(): ExecutionCounters {
  return {
    threadInstructions: 0,
    warpInstructions: 0,
    byClass: emptyByClass(),
    globalLoadBytes: 0,
    globalStoreBytes: 0,
    sharedBytes: 0,
    blocks: 0,
  };
}
