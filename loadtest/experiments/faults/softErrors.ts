import type { FaultTotals, RecoveryScheme } from '../../../simulator/faults/index.js';
import { ModelRun } from './modelRun.js';
import type { StudiedModel } from './studiedModel.js';

export interface SoftErrors {
  readonly scheme: RecoveryScheme;
  readonly launches: number;
  readonly totals: FaultTotals;
  /** Share of launches that need nothing but to run again. */
  readonly idempotentShare: number;
  /** Share of faults after which a launch did. */
  readonly repairedShare: number;
  /** Where that lies 19 times of 20 if faults strike all launches alike. */
  readonly interval: readonly [number, number];
  readonly isWithin: boolean;
  /** Passes after which all of the model's memory was what it is without faults. */
  readonly passes: number;
  readonly identical: number;
}

/** Passes until so many launches have failed, each run of a launch with the same probability. */
export function softErrors(
  model: StudiedModel,
  scheme: RecoveryScheme,
  faults: number,
  rate: number,
  seed: number,
): SoftErrors {
  const whole = new ModelRun(model, {});
  whole.pass();
  const expected = whole.memory();
  whole.close();
  const clean = new ModelRun(model, { recovery: scheme });
  clean.pass();
  const { savedLaunches = NaN } = clean.node.reading(0).faults ?? {};
  clean.close();
  const idempotentShare = 1 - savedLaunches / model.launches.length;
  const run = new ModelRun(model, { recovery: scheme, faults: { seed, rate } });
  let totals: FaultTotals | undefined;
  let passes = 0;
  let identical = 0;
  do {
    run.pass();
    passes++;
    if (Buffer.compare(run.memory(), expected) === 0) identical++;
    totals = run.node.reading(0).faults;
    if (totals === undefined) throw new Error('the run counted no faults');
  } while (totals.injected < faults);
  run.close();
  const interval = binomialInterval(idempotentShare, totals.injected);
  const repairedShare = totals.reexecuted / totals.injected;
  return {
    scheme,
    launches: passes * model.launches.length,
    totals,
    idempotentShare,
    repairedShare,
    interval,
    isWithin: repairedShare >= interval[0] && repairedShare <= interval[1],
    passes,
    identical,
  };
}

/** Shares of `count` draws that hold the middle 95 % of a binomial distribution, both ends included. */
export function binomialInterval(share: number, count: number): [number, number] {
  const logs = new Float64Array(count + 1);
  for (let n = 1; n <= count; n++) logs[n] = logs[n - 1] + Math.log(n);
  const probability = (hits: number): number => {
    if (share === 0 || share === 1) return hits === share * count ? 1 : 0;
    return Math.exp(
      logs[count] -
        logs[hits] -
        logs[count - hits] +
        hits * Math.log(share) +
        (count - hits) * Math.log(1 - share),
    );
  };
  let low = 0;
  for (let below = probability(0); below < 0.025; below += probability(low)) low++;
  let high = count;
  for (let above = probability(count); above < 0.025; above += probability(high)) high--;
  return [low / count, high / count];
}
