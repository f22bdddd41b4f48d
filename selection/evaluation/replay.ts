import { KeyedDraw } from '../keyedDraw.js';
import type { Arm, Json, SelectionPolicy } from '../policy.js';
import type { LoggedFeedback } from './loggedFeedback.js';
import { meanOf, type Estimate } from './estimators.js';
import type { Support } from './support.js';

export interface Replay {
  /** Of its losses while it learned from what was accepted. */
  readonly estimate: Estimate;
  readonly accepted: number;
  /** Mean share of its choices that the log has never tried. */
  readonly unsupported: number;
}

/**
 * How a policy that learns would have done from the start, by rejection: it chooses for each line in turn, and where the log has
 * judged that very arm the line is accepted with probability `c / p`, `c` the smallest propensity of the log; then it learns from
 * it, and its loss counts. What is accepted has the distribution of the policy's own queries and choices, so that this is its mean
 * loss over as many judged queries, if queries are independent (Li, Chu, Langford and Wang 2011 for uniform logs, where all that
 * agrees is accepted; Dudik, Erhan, Langford and Li 2012 with `c / p`). Feedback comes at once. Each context learns by itself where
 * the policy's contexts do, from the prior that what was accepted of all has made by then.
 */
export function replay(
  policy: SelectionPolicy,
  initial: Json,
  log: readonly LoggedFeedback[],
  support: Support,
  seed: number,
): Replay {
  const draw = new KeyedDraw(seed);
  const states = new Map<string, Json>();
  const hasPrior = policy.prior?.(initial) !== undefined;
  const losses: number[] = [];
  let unsupported = 0;
  for (const [line, { context, features, losses: judged, propensity = 1 }] of log.entries()) {
    const query = { context, features };
    const place = policy.isShared === true ? '' : context;
    const own = states.get('') ?? initial;
    const state = states.get(place) ?? (place === '' ? own : (policy.prior?.(own) ?? initial));
    const selection = policy.select(state, draw.of(`query ${line}`), query);
    const arm: Arm | undefined = selection.arms[0];
    if (arm === undefined || !support.has(line, arm)) unsupported += 1;
    if (arm === undefined || !Object.hasOwn(judged, arm)) continue;
    if (!(draw.of(`accepted ${line}`)() < support.smallest / propensity)) continue;
    const loss = judged[arm];
    losses.push(loss);
    const feedback = { label: '', loss, losses: { [arm]: loss } };
    const predictions = [{ arm, output: '' }];
    states.set(place, policy.observe(state, selection, predictions, feedback, query));
    if (place !== '' && hasPrior)
      states.set('', policy.observe(own, selection, predictions, feedback, query));
  }
  const rows = losses.map((loss, cluster) => ({ weight: 1, loss, modelled: 0, expected: 0, cluster }));
  return {
    estimate: meanOf(rows, ({ loss }) => loss),
    accepted: losses.length,
    unsupported: log.length === 0 ? 0 : unsupported / log.length,
  };
}
