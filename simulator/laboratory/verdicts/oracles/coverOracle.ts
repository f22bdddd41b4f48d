import type { IrFunction } from '../../../ptx/index.js';
import { ACCESS } from './accessTrace.js';
import type { ScheduledRun } from './schedules.js';

/** Bytes from `lo` to `hi`, both included. */
export interface ByteInterval {
  readonly lo: number;
  readonly hi: number;
}

/** What somebody predicts of a launch before it runs. */
export interface IntervalSource {
  /**
   * Everything that the instruction at a line of the PTX text may read ('R') or write ('W') in global memory; 'anything' when
   * that is not known. Nothing is predicted of an instruction by an empty list.
   */
  predictedIntervals(line: number, rw: 'R' | 'W'): readonly ByteInterval[] | 'anything';
}

/** An access that was not predicted. */
export interface CoverFinding {
  readonly line: number;
  readonly instruction: number;
  readonly rw: 'R' | 'W';
  readonly address: number;
  readonly bytes: number;
}

/**
 * The cover oracle: each access of a run has to lie inside an interval predicted for its instruction; an atomic inside
 * one for reading and one for writing. @returns the first that does not
 */
export function findUncovered(
  run: ScheduledRun,
  kernel: IrFunction,
  source: IntervalSource,
): CoverFinding | undefined {
  const { count, address, bytes, kind, instruction } = run.trace;
  const known = new Map<string, readonly ByteInterval[] | 'anything'>();
  const predicted = (line: number, rw: 'R' | 'W'): readonly ByteInterval[] | 'anything' => {
    const key = `${rw}${line}`;
    const intervals = known.get(key) ?? source.predictedIntervals(line, rw);
    known.set(key, intervals);
    return intervals;
  };
  for (let index = 0; index < count; index++) {
    const at = instruction[index] ?? 0;
    const line = kernel.instructions[at]?.line ?? -1;
    const lo = address[index] ?? 0;
    const size = bytes[index] ?? 0;
    const sides = ({ [ACCESS.load]: ['R'], [ACCESS.store]: ['W'], [ACCESS.atomic]: ['R', 'W'] } as const)[
      kind[index] ?? 0
    ];
    for (const rw of sides ?? []) {
      const intervals = predicted(line, rw);
      if (intervals === 'anything' || intervals.some((each) => each.lo <= lo && lo + size - 1 <= each.hi))
        continue;
      return { line, instruction: at, rw, address: lo, bytes: size };
    }
  }
  return undefined;
}
