import { renderFigure } from '../../report/index.js';
import type { RunResult } from '../../result/index.js';
import type { AgreementRow } from './agreementTable.js';

/** Latencies of each row of the table, live and of the replay. */
export function agreementFigure(rows: readonly AgreementRow[], seed: number): string {
  const panel = (yLabel: string, of: (result: RunResult) => number | undefined) => ({
    yLabel,
    logarithmic: true,
    series: [
      { name: 'live', color: 0, points: points(rows, ({ live }) => of(live)) },
      { name: 'replay', color: 1, points: points(rows, ({ virtual }) => of(virtual)) },
    ],
  });
  return renderFigure({
    title: 'Load tests and replays of the same traces',
    subtitle: `Seed ${seed}; rows in the order of the table`,
    xLabel: 'row',
    panels: [
      panel('p50 (ms)', ({ latency }) => latency?.p50Ms),
      panel('p99 (ms)', ({ latency }) => latency?.p99Ms),
    ],
  });
}

function points(
  rows: readonly AgreementRow[],
  of: (row: AgreementRow) => number | undefined,
): (readonly [number, number])[] {
  return rows.flatMap((row, at) => {
    const ms = of(row);
    return ms === undefined ? [] : [[at + 1, ms] as const];
  });
}
