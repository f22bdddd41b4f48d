import { renderBars } from '../report/index.js';
import { percent } from '../../simulator/text/index.js';
import type { Coverage } from './offPolicyExperiment.js';

/** How often intervals hold the true loss, a group of bars for each log: doubly robust, or of those that learn replayed. */
export function offPolicyFigure(
  { logs, queries }: { readonly logs: number; readonly queries: number },
  rows: readonly Coverage[],
): string {
  const shown = rows.filter(({ estimator }) => estimator === 'doublyRobust' || estimator === 'replay');
  return renderBars({
    title: 'Off-policy estimates within their 95 % intervals',
    subtitle: `${logs} logs of ${queries} judged queries each; fixed policies doubly robust, those that learn replayed`,
    yLabel: 'share of intervals that hold the true loss',
    groups: [...new Set(shown.map(({ logger }) => logger))].map((logger) => ({
      name: `log of ${logger}`,
      bars: shown
        .filter((row) => row.logger === logger)
        .map(({ target, estimator, covered }) => ({
          name: target.replace('epsilonGreedy', 'greedy').split(', '),
          value: covered,
          text: percent(covered, 1),
          color: estimator === 'replay' ? 1 : 0,
        })),
    })),
  });
}
