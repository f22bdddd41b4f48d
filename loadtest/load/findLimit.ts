import type { RunResult } from '../result/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { isOfRate } from './endings.js';

/** One rate that was tried. */
export interface TriedRate {
  readonly perSecond: number;
  readonly isKept: boolean;
  /** Why not; undefined: it is kept. */
  readonly why: string | undefined;
  readonly result: RunResult;
}

export interface LimitSearch {
  readonly low: number;
  readonly high: number;
  /** Of latency, that must be within the objective. */
  readonly percentile: number;
  readonly run: (perSecond: number) => Promise<RunResult>;
  readonly onTried: (tried: TriedRate) => void;
}

/** The search ends when the limit is known to this share of itself. */
const ACCURACY = 0.05;

export interface FoundLimit {
  /** In the order in which they were tried; rates are kept up to the highest that is. */
  readonly tried: readonly TriedRate[];
  /** What ended the search before its time: the server has gone, or somebody stopped it. */
  readonly brokenOff?: { readonly why: string; readonly result?: RunResult };
}

/** A run that says nothing of its rate. */
class BrokenOff extends Error {
  constructor(
    readonly why: string,
    readonly result?: RunResult,
  ) {
    super(why);
  }
}

/**
 * The highest rate at which the objective is kept, by halving the range in which it lies on a logarithmic scale. What was found
 * until a run fails, or ends early for what is not of its rate, is kept.
 * @throws what the first run throws
 */
export async function findLimit({ low, high, percentile, run, onTried }: LimitSearch): Promise<FoundLimit> {
  const tried: TriedRate[] = [];
  const isKept = async (perSecond: number): Promise<boolean> => {
    let result: RunResult;
    try {
      result = await run(perSecond);
    } catch (error) {
      if (tried.length === 0) throw error;
      throw new BrokenOff(reasonOf(error));
    }
    const { endedEarly } = result;
    if (endedEarly !== null && !isOfRate(endedEarly)) throw new BrokenOff(endedEarly, result);
    const why = failureOf(result, percentile);
    const one = { perSecond, isKept: why === undefined, why, result };
    tried.push(one);
    onTried(one);
    return one.isKept;
  };
  try {
    if (!(await isKept(low)) || (await isKept(high))) return { tried };
    let kept = low;
    let failed = high;
    while (failed / kept > 1 + ACCURACY) {
      const middle = Math.sqrt(kept * failed);
      if (await isKept(middle)) kept = middle;
      else failed = middle;
    }
    return { tried };
  } catch (error) {
    if (!(error instanceof BrokenOff)) throw error;
    const { why, result } = error;
    return { tried, brokenOff: { why, ...(result === undefined ? {} : { result }) } };
  }
}

/** Why a run does not keep the objective: defaults, refusals and what never came are all not in time. */
function failureOf({ endedEarly, applications }: RunResult, percentile: number): string | undefined {
  if (endedEarly !== null) return endedEarly;
  for (const { name, objectiveMs, inTime, arrivals } of applications) {
    const percent = arrivals === 0 ? 100 : (inTime / arrivals) * 100;
    if (percent >= percentile) continue;
    return `${name}: ${percent.toFixed(1)} % of the queries were predicted within ${objectiveMs} ms, and ${percentile} % must be`;
  }
  return undefined;
}
