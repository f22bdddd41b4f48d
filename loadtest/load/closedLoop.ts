import type { LoadTraffic } from './loadTraffic.js';
import type { Sender } from './senders/index.js';
import { wallNs } from './wallClock.js';

export interface ClosedLoopOptions {
  readonly sender: Sender;
  readonly traffic: LoadTraffic;
  /** Queries under way all the time. */
  readonly lanes: number;
  readonly seconds: number;
  /** Numbers of queries are `part`, `part + parts`, … */
  readonly part: number;
  readonly parts: number;
  readonly signal: AbortSignal;
}

/** Keeps so many queries under way: each that is answered makes room for the next. */
export async function closedLoop(options: ClosedLoopOptions): Promise<void> {
  const { lanes, seconds, part, parts, signal, traffic, sender } = options;
  const untilNs = wallNs() + seconds * 1e9;
  let number = part - parts;
  const lane = async (): Promise<void> => {
    while (!signal.aborted && wallNs() < untilNs) {
      number += parts;
      const query = traffic.queryOf({ atNs: 0, where: `query ${number}` }, number);
      const send = sender.prepare(query);
      const sentNs = wallNs();
      traffic.onSent(query, sentNs);
      const outcome = await new Promise<Parameters<Parameters<typeof send>[0]>[0]>(send);
      traffic.onOutcome(query, sentNs, outcome);
      // A refusal at once must not keep the loop from everything else.
      if (outcome.kind === 'failed') await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
