import {
  CLASS_COUNTERS,
  COUNTER_BYTES,
  DYNAMIC_BYTES,
  RECORD,
  type CompiledKernel,
} from '../compiler/index.js';
import { emptyByClass } from '../emptyCounters.js';
import type { ExecutionCounters, InstructionCounts } from '../types.js';
import type { LaunchArea } from './launchArea.js';

/** Multiplies each counter by what one pass through its nodes counts. */
export function readCounters(area: LaunchArea, compiled: CompiledKernel, blocks: number): ExecutionCounters {
  const result: ExecutionCounters = {
    threadInstructions: 0,
    warpInstructions: 0,
    byClass: emptyByClass(),
    globalLoadBytes: area.wide(DYNAMIC_BYTES.globalLoad),
    globalStoreBytes: area.wide(DYNAMIC_BYTES.globalStore),
    sharedBytes: area.wide(DYNAMIC_BYTES.shared),
    blocks,
  };
  compiled.counters.forEach((weight, index) => {
    const threads = area.wide(CLASS_COUNTERS + index * COUNTER_BYTES);
    if (threads === 0) return;
    const warps = area.wide(CLASS_COUNTERS + index * COUNTER_BYTES + 8);
    result.threadInstructions += threads * weight.instructions;
    result.warpInstructions += warps * weight.instructions;
    for (const [kind, count] of weight.byClass) result.byClass[kind] += warps * count;
    result.globalLoadBytes += threads * weight.globalLoadBytes;
    result.globalStoreBytes += threads * weight.globalStoreBytes;
    result.sharedBytes += threads * weight.sharedBytes;
  });
  return result;
}

/** How the lanes of chunks have gone together. */
export interface ChunkUse {
  /** Thread-instructions. */
  readonly all: number;
  /** Of these, of lanes that had left their chunk or were in none. */
  readonly apart: number;
  /** What lanes would have done that waited, under masks, for others of their chunk. */
  readonly idle: number;
}

export function readUse(area: LaunchArea, { threadInstructions }: ExecutionCounters): ChunkUse {
  const apart = area.wide(RECORD.instructionsApart);
  return { all: threadInstructions, apart, idle: area.wide(RECORD.instructionsIdle) };
}

/** What two runs count together. */
export function addCounters(left: ExecutionCounters, right: ExecutionCounters): ExecutionCounters {
  const sum = { ...right, byClass: { ...right.byClass } };
  for (const name of SUMS) sum[name] += left[name];
  for (const kind of Object.keys(sum.byClass) as (keyof typeof sum.byClass)[])
    sum.byClass[kind] += left.byClass[kind];
  return sum;
}

const SUMS = [
  'threadInstructions',
  'warpInstructions',
  'globalLoadBytes',
  'globalStoreBytes',
  'sharedBytes',
  'blocks',
] as const;

/** Adds to `counts` how often each instruction was executed. */
export function addInstructionCounts(
  area: LaunchArea,
  compiled: CompiledKernel,
  counts: InstructionCounts,
): void {
  compiled.counters.forEach((weight, index) => {
    const threads = area.wide(CLASS_COUNTERS + index * COUNTER_BYTES);
    if (threads === 0) return;
    const warps = area.wide(CLASS_COUNTERS + index * COUNTER_BYTES + 8);
    for (const instruction of weight.indices) {
      counts.threads[instruction] = (counts.threads[instruction] ?? 0) + threads;
      counts.warps[instruction] = (counts.warps[instruction] ?? 0) + warps;
    }
  });
}

/** Thread-instructions so far, to size the next call by. */
export function readThreadInstructions(area: LaunchArea, compiled: CompiledKernel): number {
  let total = 0;
  for (const [index, weight] of compiled.counters.entries()) {
    total += area.wide(CLASS_COUNTERS + index * COUNTER_BYTES) * weight.instructions;
  }
  return total;
}
