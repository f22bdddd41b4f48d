import { memoryOfBlocks, passesOn } from './blockStores.js';
import { forEachKill, killPoints, type KilledState } from './killedStates.js';
import { OracleRandom } from './oracleRandom.js';
import type { PlacedInstance } from './placedInstance.js';
import type { Schedule, ScheduledRun } from './schedules.js';

/** Which blocks run again after a kill. */
export type RerunMode = 'all' | 'unfinished';

/** A kill after which the instance did not come to what an uninterrupted run leaves. */
export interface KillFinding {
  readonly schedule: Schedule;
  readonly position: number;
  readonly mode: RerunMode;
  /** Offset in the arena's image of the first byte that differs; -1 when the rerun faulted. */
  readonly offset: number;
}

export interface KillReport {
  /**
   * Uninterrupted runs leave different memories, as when threads write different values to one place: a rerun has to leave
   * what one of them does.
   */
  readonly racy: boolean;
  /** Kills that were tried. */
  readonly kills: number;
  /** Reruns that were made: kills that leave the same memory and the same blocks to run share them. */
  readonly reruns: number;
  readonly finding?: KillFinding;
}

/** More thread-instructions than any block of a rerun makes unless the kill has broken its loops. */
const FUEL_OF_A_RERUN = 20;

/**
 * The kill oracle: kills each of some uninterrupted runs at many points, runs the instance again on what the kill left, and
 * compares all of memory with what uninterrupted runs left, byte for byte. Registers, shared and local memory die with the kill.
 * Where it is none of those, one more uninterrupted run decides: from the memory before the launch, the blocks that had ended
 * as they ran, then the others in the order of the rerun. Of writers that race it has the same winners, so that it leaves
 * the same memory, unless what the kill left shows. Reruns take their blocks forward and backward in turns. Ends at the first
 * finding.
 *
 * @param kills points a run
 */
export function tryKills(
  placed: PlacedInstance,
  runs: readonly ScheduledRun[],
  kills: number,
  seed: number,
): KillReport {
  return new KillTrial(placed, runs).run(kills, new OracleRandom(seed));
}

class KillTrial {
  private readonly fuel: number;
  private readonly observed: Uint8Array[];
  private racy: boolean;
  private readonly passing = new Map<ScheduledRun, boolean>();
  private reruns = 0;
  private kills = 0;

  constructor(
    private readonly placed: PlacedInstance,
    private readonly runs: readonly ScheduledRun[],
  ) {
    const most = Math.max(0, ...runs.map(({ trace }) => trace.positions));
    this.fuel = Math.min(placed.fuel, FUEL_OF_A_RERUN * most + 100_000);
    this.observed = runs.map(({ output }) => output);
    this.racy = this.observed.some((output) => Buffer.compare(output, this.observed[0] ?? output) !== 0);
  }

  run(kills: number, random: OracleRandom): KillReport {
    let finding: KillFinding | undefined;
    for (const run of this.runs) {
      finding ??= this.killRun(run, killPoints(run, kills, random));
    }
    const { racy } = this;
    const report = { racy, kills: this.kills, reruns: this.reruns };
    return finding === undefined ? report : { ...report, finding };
  }

  private killRun(run: ScheduledRun, points: readonly number[]): KillFinding | undefined {
    const { schedule } = run;
    const seen = new Set<string>();
    let finding: KillFinding | undefined;
    forEachKill(run, points, (state) => {
      this.kills++;
      const backward = this.kills % 2 === 0;
      for (const mode of this.modesOf(run)) {
        // What a rerun makes of a memory depends on nothing but the memory and the blocks.
        const key = `${mode} ${backward} ${state.stores} ${mode === 'all' ? '' : state.finished.length}`;
        if (seen.has(key)) continue;
        seen.add(key);
        const offset = this.rerun(run, state, mode, backward);
        if (offset !== undefined) finding = { schedule, position: state.position, mode, offset };
        if (finding !== undefined) return false;
      }
      return true;
    });
    return finding;
  }

  private modesOf(run: ScheduledRun): readonly RerunMode[] {
    return this.racy && !this.isPrefix(run) ? ['all'] : ['all', 'unfinished'];
  }

  /**
   * Whether the blocks that end first could have run by themselves. They could not, and what a race would have come to is
   * open, where blocks that are interleaved read what others have written.
   */
  private isPrefix(run: ScheduledRun): boolean {
    if (run.schedule !== 'interleaved') return true;
    const passes = this.passing.get(run) ?? passesOn(run);
    this.passing.set(run, passes);
    return !passes;
  }

  /** @returns where memory differs, -1 for a fault, undefined when all is well */
  private rerun(
    run: ScheduledRun,
    state: KilledState,
    mode: RerunMode,
    backward: boolean,
  ): number | undefined {
    const finished = new Set(mode === 'all' ? [] : state.finished);
    const blocks = Array.from({ length: this.placed.blocks }, (_, block) => block);
    const rest = blocks.filter((block) => !finished.has(block));
    const order = backward ? rest.reverse() : rest;
    this.reruns++;
    if (!this.runFrom(state.memory, order)) return -1;
    const { arena, initial } = this.placed;
    const differences = this.observed.map((output) => arena.firstDifference(output));
    if (differences.includes(-1)) return undefined;
    if (mode === 'unfinished' && !this.isPrefix(run)) return differences[0];
    const found = arena.read();
    if (!this.runFrom(memoryOfBlocks(run, finished, initial), order)) return differences[0];
    if (arena.firstDifference(found) !== -1) return differences[0];
    this.racy = true;
    this.observed.push(found);
    return undefined;
  }

  /** Runs blocks one after another on a memory. @returns false for a fault */
  private runFrom(memory: Uint8Array, order: readonly number[]): boolean {
    const { arena, executor, launch } = this.placed;
    arena.write(memory);
    for (let at = 0; at < order.length;) {
      // Ascending neighbours run in one call.
      const lo = order[at] ?? 0;
      let end = at + 1;
      while (order[end] === lo + (end - at)) end++;
      const result = executor.run(launch, { lo, hi: lo + (end - at) }, 'fast', this.fuel);
      if (result.status !== 'done') return false;
      at = end;
    }
    return true;
  }
}
