import type { AccessTrace } from './accessTrace.js';
import { ACCESS } from './accessTrace.js';
import type { OracleRandom } from './oracleRandom.js';
import type { ScheduledRun } from './schedules.js';

/** Of the kills of a run, at most this share stands at boundaries of blocks. */
const BOUNDARY_SHARE = 1 / 3;

/**
 * Where a run is killed, ascending and without repetition: after so many thread-instructions. Right after the first store,
 * right before the last, at block boundaries (a third at most), then in equal parts right after random stores and
 * at random instructions.
 */
export function killPoints(run: ScheduledRun, count: number, random: OracleRandom): number[] {
  const { trace, blockEnds } = run;
  const stores: number[] = [];
  for (let index = 0; index < trace.count; index++)
    if (trace.kind[index] !== ACCESS.load) stores.push(trace.position[index] ?? 0);
  const points = new Set<number>();
  const [first, last] = [stores[0], stores.at(-1)];
  if (first !== undefined && last !== undefined) points.add(first + 1).add(last);
  const boundaries = blockEnds.slice(0, -1);
  const taken = Math.min(boundaries.length, Math.floor(count * BOUNDARY_SHARE));
  for (let index = 0; index < taken; index++)
    points.add(boundaries[Math.floor((index * boundaries.length) / taken)]?.position ?? 0);
  // A short run has fewer points than are asked for.
  for (let tried = 0; points.size < count && tried < 4 * count; tried++) {
    const isStore = tried % 2 === 0 && stores.length > 0;
    points.add(isStore ? random.pick(stores) + 1 : random.below(trace.positions + 1));
  }
  return [...points].slice(0, count).sort((left, right) => left - right);
}

/** Memory as a kill leaves it: every store already made is kept, everything else of the run is lost. */
export interface KilledState {
  readonly position: number;
  /** Stores and atomics made. Two kills with as many leave the same memory. */
  readonly stores: number;
  readonly memory: Uint8Array;
  /** Blocks that had ended. */
  readonly finished: readonly number[];
}

/** The states that kills at some points leave, from the last point to the first. `memory` is reused between calls. */
export function forEachKill(
  run: ScheduledRun,
  points: readonly number[],
  use: (state: KilledState) => boolean,
): void {
  const { trace, blockEnds, output } = run;
  const memory = output.slice();
  let index = trace.count;
  let stores = countStores(trace);
  for (let which = points.length - 1; which >= 0; which--) {
    const position = points[which] ?? 0;
    for (; index > 0 && (trace.position[index - 1] ?? 0) >= position; index--) {
      const old = trace.old[index - 1];
      if (old === undefined) continue;
      memory.set(old, trace.offset[index - 1]);
      stores--;
    }
    const finished = blockEnds.filter((end) => end.position <= position).map(({ block }) => block);
    if (!use({ position, stores, memory, finished })) return;
  }
}

function countStores(trace: AccessTrace): number {
  return trace.old.reduce((count, old) => count + (old === undefined ? 0 : 1), 0);
}
