import type { ExecutorVariant } from '../../executor/index.js';
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
  /** Uninterrupted runs leave different memories: reruns are held to the set of those observed. */
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
 * Reruns take their blocks forward and backward in turns. Ends at the first finding.
 *
 * @param kills points a run
 */
export function tryKills(
  placed: PlacedInstance,
  runs: readonly ScheduledRun[],
  kills: number,
  seed: number,
): KillReport {
  const racy = runs.some(({ output }) => Buffer.compare(output, runs[0]?.output ?? output) !== 0);
  return new KillTrial(placed, runs, racy).run(kills, new OracleRandom(seed));
}

class KillTrial {
  private readonly variant: ExecutorVariant;
  private readonly fuel: number;
  private readonly observed: Uint8Array[];
  private reruns = 0;
  private kills = 0;

  constructor(
    private readonly placed: PlacedInstance,
    private readonly runs: readonly ScheduledRun[],
    private readonly racy: boolean,
  ) {
    // A race may come out another way in another variant's code, so that racy instances keep to the one observed.
    this.variant = racy ? 'observed' : 'fast';
    const most = Math.max(0, ...runs.map(({ trace }) => trace.positions));
    this.fuel = Math.min(placed.fuel, FUEL_OF_A_RERUN * most + 100_000);
    this.observed = runs.map(({ output }) => output);
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
      for (const mode of this.modesOf(schedule)) {
        // What a rerun makes of a memory depends on nothing but the memory and the blocks.
        const key = `${mode} ${backward} ${state.stores} ${mode === 'all' ? '' : state.finished.length}`;
        if (seen.has(key)) continue;
        seen.add(key);
        const offset = this.rerun(state, mode, backward);
        if (offset !== undefined) finding = { schedule, position: state.position, mode, offset };
        if (finding !== undefined) return false;
      }
      return true;
    });
    return finding;
  }

  /** Which winner a race between interleaved blocks would have had among the rest cannot be said. */
  private modesOf(schedule: Schedule): readonly RerunMode[] {
    return this.racy && schedule === 'interleaved' ? ['all'] : ['all', 'unfinished'];
  }

  /** @returns where memory differs, -1 for a fault, undefined when all is well */
  private rerun(state: KilledState, mode: RerunMode, backward: boolean): number | undefined {
    const finished = new Set(mode === 'all' ? [] : state.finished);
    const blocks = Array.from({ length: this.placed.blocks }, (_, block) => block);
    const rest = blocks.filter((block) => !finished.has(block));
    const order = backward ? rest.reverse() : rest;
    this.reruns++;
    if (!this.runFrom(state.memory, order)) return -1;
    const { arena } = this.placed;
    const differences = this.observed.map((output) => arena.firstDifference(output));
    if (differences.includes(-1)) return undefined;
    if (!this.racy) return differences[0];
    // Another uninterrupted run of a racy instance: blocks in the order in which these have run.
    const found = arena.read();
    this.runFrom(this.placed.initial, [...finished, ...order]);
    this.observed.push(arena.read());
    return Buffer.compare(found, this.observed.at(-1) ?? found) === 0 ? undefined : differences[0];
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
      const result = executor.run(launch, { lo, hi: lo + (end - at) }, this.variant, this.fuel);
      if (result.status !== 'done') return false;
      at = end;
    }
    return true;
  }
}
