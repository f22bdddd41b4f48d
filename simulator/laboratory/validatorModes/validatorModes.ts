import {
  compileValidator,
  type KernelSummary,
  type Validator,
  type ValidatorOptions,
  type WayOfJudging,
  type WaysOfJudging,
} from '../../idempotency/index.js';
import { GrowingIntervals } from './growingIntervals.js';
import { RangesCode } from './rangesCode.js';
import { StrawmanCode } from './strawmanCode.js';

/**
 * `strawman`: every thread and iteration enumerated, the reference for precision; `ranges`: an interval for each access and
 * iteration; `compacted`: an interval for each access, as is served (PICKER, sections 2.5, 2.9, 2.10).
 */
export const VALIDATOR_MODES = ['strawman', 'ranges', 'compacted'] as const;
export type ValidatorMode = (typeof VALIDATOR_MODES)[number];

export interface ModeOptions extends Pick<ValidatorOptions, 'allocationBound'> {
  /** Default `compacted`. */
  readonly mode?: ValidatorMode;
}

/** Points that enumeration goes through before it gives up. */
const MOST_POINTS = 2 ** 22;

const byThread: WayOfJudging = ({ summary, bounds, fill }) => {
  const found = new GrowingIntervals();
  const enumerate = StrawmanCode.enumerate(summary, bounds, found);
  return (launch) => {
    if (fill(launch) >= 0) return false;
    const outcome = enumerate(launch, MOST_POINTS);
    return outcome === 2 ? undefined : outcome === 1 && !found.overlaps();
  };
};

const byRanges: WayOfJudging = ({ summary, heap }) => {
  const found = new GrowingIntervals();
  const fill = RangesCode.fill(summary, found, heap);
  return (launch) => fill(launch) === 1 && !found.overlaps();
};

/** How a mode judges, and how it looks into refusals: by every thread, which tells what only looks like an overlap. */
const WAYS: Readonly<Record<ValidatorMode, WaysOfJudging>> = {
  // Its own verdict is that of every thread.
  strawman: { judging: byThread, secondOpinion: () => () => false },
  ranges: { judging: byRanges, secondOpinion: byThread },
  compacted: { secondOpinion: byThread },
};

export function waysOfJudging(mode: ValidatorMode): WaysOfJudging {
  return WAYS[mode];
}

/** A validator in a mode, whose `explain` enumerates threads: slow. */
export function validatorInMode(
  summary: KernelSummary,
  { mode = 'compacted', ...options }: ModeOptions = {},
): Validator {
  return compileValidator(summary, { ...options, ...WAYS[mode] });
}
