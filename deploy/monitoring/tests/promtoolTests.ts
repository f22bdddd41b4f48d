import { stringify } from 'yaml';
import type { AlertCase } from './alertCases.js';

const firing = (alert?: string): string => {
  const name = alert === undefined ? '' : `,alertname="${alert}"`;
  return `count(ALERTS{alertstate="firing"${name}})`;
};

/** A file for `promtool test rules`. @param rules files of rules */
export function promtoolTests(rules: readonly string[], cases: readonly AlertCase[]): string {
  const tests = cases.map(({ alert, series, quiet, notYet, fires, also = [] }) => {
    const expect = (promql: string, minutes: number, count: number) => ({
      expr: promql,
      eval_time: `${minutes}m`,
      exp_samples: count === 0 ? [] : [{ labels: '{}', value: count }],
    });
    return {
      name: alert,
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        ...quiet.map((minutes) => expect(firing(), minutes, 0)),
        ...notYet.map((minutes) => expect(firing(alert), minutes, 0)),
        expect(firing(alert), fires, 1),
        // And no others.
        expect(firing(), fires, 1 + also.length),
        ...also.map((other) => expect(firing(other), fires, 1)),
      ],
    };
  });
  return stringify({ rule_files: rules, evaluation_interval: '1m', tests });
}
