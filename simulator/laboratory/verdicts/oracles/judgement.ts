import type { KernelFault } from '../../../executor/index.js';
import { findUncovered, type CoverFinding, type IntervalSource } from './coverOracle.js';
import { tryKills, type KillReport } from './killOracle.js';
import type { LaunchInstance } from './launchInstance.js';
import type { OracleBench, PlacedInstance } from './placedInstance.js';
import { runScheduled, USUAL_SCHEDULES, type Schedule } from './schedules.js';
import { findClobber, type TraceFinding } from './traceOracle.js';

export interface JudgementOptions {
  /** Kill points a schedule; 32 by default, 0 leaves the kill oracle out. */
  readonly kills?: number;
  readonly schedules?: readonly Schedule[];
  readonly seed?: number;
  /** Whether kills go on where the trace oracle has already found a clobber; false by default. */
  readonly killClobbered?: boolean;
  /** What is predicted of the launch, once it is placed: held to every run. */
  readonly predict?: (placed: PlacedInstance) => IntervalSource | undefined;
}

/** What the oracles say of one instance. */
export type Judgement =
  /** It ends in a fault under some schedule: nothing is to be said of repeating it. */
  | { readonly kind: 'fault'; readonly fault: KernelFault }
  | {
      readonly kind: 'judged';
      /** Clean under the trace oracle and the kill oracle. */
      readonly idempotent: boolean;
      /** What the trace oracle found, under the first schedule that shows it. */
      readonly clobber?: TraceFinding & { readonly schedule: Schedule };
      readonly kill?: KillReport;
      readonly uncovered?: CoverFinding & { readonly schedule: Schedule };
      /** Accesses to global memory and thread-instructions of the first run. */
      readonly accesses: number;
      readonly threadInstructions: number;
    };

/** Runs an instance under the oracles. @throws RangeError for an instance that cannot be placed (see OracleBench). */
export function judgeInstance(
  bench: OracleBench,
  instance: LaunchInstance,
  options: JudgementOptions = {},
): Judgement {
  return bench.with(instance, (placed) => judgePlaced(placed, options));
}

/** As judgeInstance, of an instance that is placed. */
export function judgePlaced(placed: PlacedInstance, options: JudgementOptions = {}): Judgement {
  const { kills = 32, schedules = USUAL_SCHEDULES, seed = 1, killClobbered = false, predict } = options;
  const runs = [];
  for (const schedule of schedules) {
    const run = runScheduled(placed, schedule, seed);
    if (run.fault !== undefined) return { kind: 'fault', fault: run.fault };
    runs.push(run);
  }
  let clobber: (TraceFinding & { schedule: Schedule }) | undefined;
  let uncovered: (CoverFinding & { schedule: Schedule }) | undefined;
  const source = predict?.(placed);
  for (const run of runs) {
    const { schedule } = run;
    const clobbered = clobber === undefined ? findClobber(run) : undefined;
    if (clobbered !== undefined) clobber = { ...clobbered, schedule };
    if (source === undefined || uncovered !== undefined) continue;
    const found = findUncovered(run, placed.launch.kernel, source);
    if (found !== undefined) uncovered = { ...found, schedule };
  }
  const killed = kills > 0 && (clobber === undefined || killClobbered);
  const kill = killed ? tryKills(placed, runs, kills, seed) : undefined;
  const first = runs[0]?.trace;
  return {
    kind: 'judged',
    idempotent: clobber === undefined && kill?.finding === undefined,
    ...(clobber === undefined ? {} : { clobber }),
    ...(kill === undefined ? {} : { kill }),
    ...(uncovered === undefined ? {} : { uncovered }),
    accesses: first?.count ?? 0,
    threadInstructions: first?.positions ?? 0,
  };
}
