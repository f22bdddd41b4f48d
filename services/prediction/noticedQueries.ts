import type { ArmOutcome } from '../../selection/index.js';
import type { LearnedState } from '../feedback/index.js';
import type { LiveQuery, Task } from './liveQuery.js';

/** So many queries are told at once, or fewer once so much time has passed: each telling is written to the store. */
const MOST_QUERIES = 16;
const LONGEST_NS = 100e6;

/** What became of the queries of one application, for a policy that wants to know whether or not anybody judges them. */
export class NoticedQueries {
  private queries: (readonly ArmOutcome[])[] = [];
  private sinceNs = 0;

  constructor(private readonly state: LearnedState) {}

  add({ tasks }: LiveQuery, nowNs: number): void {
    if (this.queries.length === 0) this.sinceNs = nowNs;
    this.queries.push(tasks.map(outcomeOf));
    if (this.queries.length >= MOST_QUERIES || nowNs - this.sinceNs >= LONGEST_NS) this.tell();
  }

  tell(): void {
    if (this.queries.length === 0) return;
    const noticed = this.queries;
    this.queries = [];
    this.state.observe({ noticed, done: undefined });
  }
}

function outcomeOf({ arm, arrived, failure }: Task): ArmOutcome {
  if (arrived) return { arm, kind: 'answered' };
  return { arm, kind: failure === undefined || failure.reason === 'expired' ? 'late' : 'failed' };
}
