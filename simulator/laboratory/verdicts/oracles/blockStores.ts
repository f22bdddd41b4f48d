import { ACCESS } from './accessTrace.js';
import type { ScheduledRun } from './schedules.js';

/**
 * All of memory after the stores of some of a run's blocks alone, in the order in which the run made them.
 * @param initial memory before the launch
 */
export function memoryOfBlocks(
  run: ScheduledRun,
  blocks: ReadonlySet<number>,
  initial: Uint8Array,
): Uint8Array {
  const memory = initial.slice();
  if (blocks.size === 0) return memory;
  const { trace } = run;
  const blockAt = blocksOf(run);
  const isSet = new Uint8Array(memory.length);
  // Backward: what the bytes are after each store, where no later one of these blocks has said.
  const after = run.output.slice();
  for (let index = trace.count - 1; index >= 0; index--) {
    const old = trace.old[index];
    if (old === undefined) continue;
    const offset = trace.offset[index] ?? 0;
    if (blocks.has(blockAt[index] ?? -1)) {
      for (let at = offset; at < offset + old.length; at++) {
        if (isSet[at] === 1) continue;
        isSet[at] = 1;
        memory[at] = after[at] ?? 0;
      }
    }
    after.set(old, offset);
  }
  return memory;
}

/** Whether a block of a run has read a byte that another had written in it. */
export function passesOn(run: ScheduledRun): boolean {
  const { count, offset, bytes, kind } = run.trace;
  const blockAt = blocksOf(run);
  const writers = new Int32Array(run.output.length).fill(-1);
  for (let index = 0; index < count; index++) {
    const block = blockAt[index] ?? -1;
    const first = offset[index] ?? 0;
    const end = first + (bytes[index] ?? 0);
    for (let at = first; at < end; at++) {
      const writer = writers[at] ?? -1;
      if (kind[index] !== ACCESS.store && writer !== -1 && writer !== block) return true;
      if (kind[index] !== ACCESS.load) writers[at] = block;
    }
  }
  return false;
}

/** The block of each access. */
function blocksOf({ trace, turns }: ScheduledRun): Int32Array {
  const blocks = new Int32Array(trace.count);
  let turn = 0;
  for (let index = 0; index < trace.count; index++) {
    while ((turns[turn + 1]?.position ?? Infinity) <= (trace.position[index] ?? 0)) turn++;
    blocks[index] = turns[turn]?.block ?? -1;
  }
  return blocks;
}
