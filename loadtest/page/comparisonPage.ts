import { escapeMarkup } from '../../simulator/text/index.js';
import type { RunResult, WindowResult } from '../result/index.js';
import { comparedFigures, kindText, ratioText, type NamedRun } from './comparison.js';
import { document, table } from './document.js';
import { lineChart } from './lineChart.js';
import { DISTRIBUTION, meanBatch, perSecond, points, windowsOfRates } from './windowPoints.js';

/** Runs side by side, as one HTML document that fetches nothing. */
export function comparisonPage(runs: readonly NamedRun[]): string {
  const title = `Runs ${runs.map(({ name }) => name).join(' and ')}`;
  const rows = [
    ['', ...runs.map(({ result }) => kindText(result)), ''],
    ...comparedFigures(runs).map(({ name, values, ratio }) => [name, ...values, ratioText(ratio)]),
  ];
  const charts = [distribution(runs), ...overTime(runs)].join('\n');
  return document(
    title,
    `<section class="charts">${charts}</section>
<h2>Figures</h2>
${table(['', ...runs.map(({ name }) => name), 'ratio'], rows)}
<footer>${runs.map(({ name, result }) => escapeMarkup(`${name}: ${aboutText(result)}`)).join('<br>')}</footer>`,
  );
}

function aboutText({ trace, durationSeconds, seed, windjammer, node }: RunResult): string {
  return `${trace}, ${durationSeconds.toFixed(1)} s, seed ${seed}, Windjammer ${windjammer}, Node ${node}`;
}

function distribution(runs: readonly NamedRun[]): string {
  return lineChart({
    ...DISTRIBUTION,
    series: runs.flatMap(({ name, result }, color) =>
      result.applications
        .filter(({ latencyDistribution }) => latencyDistribution.length > 0)
        .map((one) => ({
          name: result.applications.length > 1 ? `${name}: ${one.name}` : name,
          color,
          points: one.latencyDistribution,
        })),
    ),
  });
}

function overTime(runs: readonly NamedRun[]): string[] {
  const chart = (
    title: string,
    yLabel: string,
    value: (window: WindowResult, run: RunResult) => number | null,
  ): string =>
    lineChart({
      title,
      xLabel: 'time (s)',
      yLabel,
      series: runs.map(({ name, result }, color) => ({
        name,
        color,
        points: points(windowsOfRates(result), result.windowSeconds, (window) => value(window, result)),
      })),
    });
  return [
    chart('p99 latency over time', 'latency (ms)', ({ p99Ms }) => p99Ms),
    chart('Median latency over time', 'latency (ms)', ({ p50Ms }) => p50Ms),
    chart('Answers over time', 'a second', (window, run) => perSecond(run, window, window.answers)),
    chart('Default answers over time', 'share of answers', ({ answers, defaults }) =>
      answers === 0 ? 0 : defaults / answers,
    ),
    chart('Mean batch size over time', 'items in a batch', meanBatch),
  ];
}
