import { ACCESS } from './accessTrace.js';
import type { ScheduledRun } from './schedules.js';

/** What an instance has done to a byte first. */
const UNTOUCHED = 0;
const READ_FIRST = 1;
const WRITE_FIRST = 2;

/** Why a traced run cannot be repeated from anywhere. */
export type TraceFinding =
  /** A byte that was read before it was written is written: instruction and offset in the arena's image. */
  | { readonly kind: 'clobber'; readonly instruction: number; readonly offset: number }
  /** It has written to the host, which a second run does again. */
  | { readonly kind: 'sideEffect' };

/**
 * The trace oracle: looks in the accesses of one run, byte by byte, for a write to a byte whose first access was a read (a
 * clobber anti-dependence). An atomic reads its bytes and then writes them. @returns undefined when there is none
 */
export function findClobber(run: ScheduledRun): TraceFinding | undefined {
  if (run.prints) return { kind: 'sideEffect' };
  const { count, offset, bytes, kind, instruction } = run.trace;
  const states = new Uint8Array(run.output.length);
  for (let index = 0; index < count; index++) {
    const first = offset[index] ?? 0;
    const end = first + (bytes[index] ?? 0);
    const isRead = kind[index] !== ACCESS.store;
    const isWrite = kind[index] !== ACCESS.load;
    for (let at = first; at < end; at++) {
      if (isRead && states[at] === UNTOUCHED) states[at] = READ_FIRST;
      if (!isWrite) continue;
      if (states[at] === READ_FIRST)
        return { kind: 'clobber', instruction: instruction[index] ?? -1, offset: at };
      states[at] = WRITE_FIRST;
    }
  }
  return undefined;
}
