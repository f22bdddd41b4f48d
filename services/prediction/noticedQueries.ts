import type { ArmOutcome, Selection } from '../../selection/index.js';
import type { LearnedState } from '../feedback/index.js';
import type { Task } from './liveQuery.js';

/** So many queries are told at once, or fewer once so much time has passed: each telling is written to the store. */
const MOST_QUERIES = 16;
const LONGEST_NS = 100e6;

/** What became of queries, for a policy that wants to know whether or not anybody judges them. */
export class NoticedQueries {
  private queries: (readonly ArmOutcome[])[] = [];
  private sinceNs = 0;

  constructor(private readonly state: LearnedState) {}

  /** @param outcomes of the arms that were asked for one query, in order */
  add(outcomes: readonly ArmOutcome[], nowNs: number): void {
    if (this.queries.length === 0) this.sinceNs = nowNs;
    this.queries.push(outcomes);
    if (this.queries.length >= MOST_QUERIES || nowNs - this.sinceNs >= LONGEST_NS) this.tell();
  }

  tell(): void {
    if (this.queries.length === 0) return;
    const noticed = this.queries;
    this.queries = [];
    this.state.observe({ noticed, done: undefined });
  }
}

/** With what the choice of the first one was. */
export function outcomesOf(
  outcomes: readonly ArmOutcome[],
  { propensity, share = propensity }: Selection,
): readonly ArmOutcome[] {
  return outcomes.map((outcome, at) => (at === 0 ? { ...outcome, share } : outcome));
}

export function outcomeOf({ arm, arrived, failure, latencyNs, cached, isThere }: Task): ArmOutcome {
  if (arrived) return { arm, kind: 'answered', latencyMs: latencyNs / 1e6, isCached: cached };
  if (failure === undefined || failure.reason === 'expired') return { arm, kind: 'late' };
  // One that was there and is no longer was lost, perhaps by this very input.
  return { arm, kind: failure.reason === 'no_replica' && !isThere ? 'absent' : 'failed' };
}
