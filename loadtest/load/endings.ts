/** Why a load ended early: somebody stopped it. */
export const INTERRUPTED = 'it was interrupted';

const LATE = 'the load generator itself is late';
const BEHIND = /^the server is \d+ queries behind/;

/** More than the load generator can ask at the right times. */
export function lateEnding(p99Ms: number, limitMs: number): string {
  return (
    `${LATE}: 1 of 100 queries left ${p99Ms.toFixed(2)} ms or more after its time, and ` +
    `${limitMs} ms (5 % of the objective) is the most that can be told from the server's own. Offer less, use --processes, ` +
    'or run it on another machine; --late-limit-ms says otherwise'
  );
}

/** More than the server answers. */
export function behindEnding(queries: number): string {
  return `the server is ${queries} queries behind: offer less, or fewer seconds of it`;
}

/** Whether a load of fewer queries a second might not have ended so. */
export function isOfRate(endedEarly: string): boolean {
  return endedEarly.startsWith(LATE) || BEHIND.test(endedEarly);
}
