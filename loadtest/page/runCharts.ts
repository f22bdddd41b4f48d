import type { ModelResult, RunResult } from '../result/index.js';
import { barChart } from './barChart.js';
import { lineChart, type ChartSeries } from './lineChart.js';
import { msText } from './markup.js';
import { DISTRIBUTION, meanBatch, perSecond, points, windowsOfRates } from './windowPoints.js';
import { escapeMarkup } from '../../simulator/text/index.js';

/** Below this share of an objective, showing it would only flatten the data. */
const OBJECTIVE_IN_SIGHT = 0.02;

const AT_ONCE = 'Every query was answered at once: in no simulated time.';

export function runCharts(result: RunResult): string[] {
  return [
    distributionChart(result),
    latencyChart(result),
    throughputChart(result),
    defaultsChart(result),
    ...selectionCharts(result),
    batchSizeChart(result),
    meanBatchChart(result),
  ];
}

function distributionChart({ applications }: RunResult): string {
  const shown = applications.filter(({ latencyDistribution }) => latencyDistribution.length > 0);
  if (shown.length === 0) return emptyChart(DISTRIBUTION.title, 'Nothing was answered.');
  if (shown.every(({ latency }) => latency?.maxMs === 0)) return emptyChart(DISTRIBUTION.title, AT_ONCE);
  const [first] = shown;
  return lineChart({
    ...DISTRIBUTION,
    series: shown.map(({ name, latencyDistribution }, color) => ({
      name,
      color,
      points: latencyDistribution,
    })),
    ...(shown.length === 1 && inSight(first.latency?.maxMs, first.objectiveMs)
      ? { references: [{ name: `objective, ${msText(first.objectiveMs)}`, x: first.objectiveMs }] }
      : {}),
  });
}

function latencyChart({ applications, windows, windowSeconds, latency }: RunResult): string {
  if (latency === null) return emptyChart('Latency over time', 'Nothing was answered.');
  if (latency.maxMs === 0) return emptyChart('Latency over time', AT_ONCE);
  const objectives = [...new Set(applications.map(({ objectiveMs }) => objectiveMs))].sort((a, b) => a - b);
  const [objectiveMs] = objectives;
  const positive = windows.flatMap(({ p50Ms, p99Ms }) => [p50Ms ?? 0, p99Ms ?? 0]).filter((ms) => ms > 0);
  const spread = positive.length === 0 ? 1 : Math.max(...positive) / Math.min(...positive);
  return lineChart({
    title: 'Latency over time',
    xLabel: 'time (s)',
    yLabel: 'latency (ms)',
    yLogarithmic: spread > 30,
    series: [
      { name: 'p99', color: 1, points: points(windows, windowSeconds, ({ p99Ms }) => p99Ms) },
      { name: 'p50', color: 0, points: points(windows, windowSeconds, ({ p50Ms }) => p50Ms) },
    ],
    ...(inSight(latency.maxMs, objectiveMs)
      ? { references: objectives.map((ms) => ({ name: `objective, ${msText(ms)}`, y: ms })) }
      : { note: `Far below the objective of ${msText(objectiveMs)}` }),
  });
}

function throughputChart(result: RunResult): string {
  const { windowSeconds } = result;
  const during = windowsOfRates(result);
  return lineChart({
    title: 'Throughput over time',
    xLabel: 'time (s)',
    yLabel: 'queries a second',
    series: [
      {
        name: 'offered',
        color: 4,
        broad: true,
        points: points(during, windowSeconds, (window) => perSecond(result, window, window.arrivals)),
      },
      {
        name: 'predicted in time',
        color: 2,
        points: points(during, windowSeconds, (window) =>
          perSecond(result, window, window.answers - window.defaults),
        ),
      },
    ],
  });
}

function defaultsChart({ windows, windowSeconds, defaults, defaultReasons }: RunResult): string {
  const title = 'Default answers over time';
  if (defaults === 0) return emptyChart(title, 'None: every query was predicted in time.');
  const reasons = Object.keys(defaultReasons) as (keyof typeof defaultReasons)[];
  return lineChart({
    title,
    note: 'Share of the answers, by reason',
    xLabel: 'time (s)',
    yLabel: 'share of answers',
    yShare: true,
    stacked: true,
    series: reasons.map((reason, at) => ({
      name: reason.replaceAll('_', ' '),
      color: [1, 5, 3, 4, 0, 2][at % 6],
      points: points(windows, windowSeconds, (window) =>
        window.answers === 0 ? 0 : (window.defaultReasons[reason] ?? 0) / window.answers,
      ),
    })),
  });
}

/** One for each application that has a choice. */
function selectionCharts({ applications, windows, windowSeconds, models }: RunResult): string[] {
  return applications
    .filter((application) => application.models.length > 1)
    .map(({ name, policy, models: linked }) => {
      const series = linked.map((model): ChartSeries => {
        let last = 1 / linked.length;
        return {
          name: model,
          color: colorOf(models, model),
          points: [
            [0, last] as const,
            ...windows.map(({ fromSeconds, shares }) => {
              last = shares?.[name]?.[model] ?? last;
              return [fromSeconds + windowSeconds, last] as const;
            }),
          ],
        };
      });
      return lineChart({
        title: `Selection weights of ${name} over time`,
        ...(policy === null ? {} : { note: `Policy ${policy.name}` }),
        xLabel: 'time (s)',
        yLabel: 'share',
        yShare: true,
        stacked: true,
        series,
      });
    });
}

function batchSizeChart({ models }: RunResult): string {
  const shown = models.filter(({ batches }) => batches > 0);
  if (shown.length === 0) return emptyChart('Batch sizes', 'No batch was sent.');
  const bins = new Map(
    shown.flatMap(({ batchSizes }) => batchSizes.map(({ from, to }) => [from, to] as const)),
  );
  const froms = [...bins.keys()].sort((a, b) => a - b);
  return barChart({
    title: 'Batch sizes',
    note: 'Share of each model’s batches, by their number of items',
    xLabel: 'items in a batch',
    yLabel: '% of batches',
    groups: froms.map((from) => (bins.get(from) === from ? `${from}` : `${from}–${bins.get(from)}`)),
    series: shown.map(({ name, batches, batchSizes }) => ({
      name,
      color: colorOf(models, name),
      values: froms.map(
        (from) => ((batchSizes.find((bin) => bin.from === from)?.count ?? 0) * 100) / batches,
      ),
    })),
  });
}

function meanBatchChart({ windows, windowSeconds, models }: RunResult): string {
  if (models.every(({ batches }) => batches === 0))
    return emptyChart('Mean batch size over time', 'No batch was sent.');
  return lineChart({
    title: 'Mean batch size over time',
    note: 'All models together',
    xLabel: 'time (s)',
    yLabel: 'items in a batch',
    series: [
      {
        name: 'items in a batch',
        color: 0,
        points: points(windows, windowSeconds, meanBatch),
      },
    ],
  });
}

/** A model has one colour throughout. */
export function colorOf(models: readonly ModelResult[], name: string): number {
  return Math.max(
    0,
    models.findIndex((model) => model.name === name),
  );
}

function emptyChart(title: string, why: string): string {
  return `<figure class="card chart"><figcaption>${escapeMarkup(title)}</figcaption><div class="empty">${escapeMarkup(why)}</div></figure>`;
}

/** At the middle of each window. */
function inSight(maxMs: number | undefined, objectiveMs: number): boolean {
  return maxMs !== undefined && maxMs > objectiveMs * OBJECTIVE_IN_SIGHT;
}
