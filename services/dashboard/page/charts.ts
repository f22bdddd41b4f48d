import type { FeedFrame } from '../feedFrame.js';
import { modelColour } from './colours.js';
import { byId } from './dom.js';
import { formatMs, formatNumber, formatShare } from './format.js';
import { TimeChart, type TimeChartOptions } from './timeChart.js';

type Points = ReadonlyMap<string, number | null>;

interface Plotted {
  readonly chart: TimeChart;
  readonly points: (frame: FeedFrame) => Points;
}

/** The charts that show the whole server. */
export class Charts {
  private readonly plotted: readonly Plotted[] = [
    plotted('chart-rates', { format: formatNumber }, ({ queries }) => {
      const { predicted, defaulted, refused, cancelled } = queries;
      return new Map([
        ['predicted', predicted],
        ['default output', defaulted],
        ['refused', refused],
        ['cancelled', cancelled],
      ]);
    }),
    plotted('chart-latency', { format: formatMs, top: 0.1 }, ({ latency }) => {
      return new Map([
        ['median', latency?.p50Ms ?? null],
        ['99th percentile', latency?.p99Ms ?? null],
      ]);
    }),
    plotted('chart-batches', { format: formatNumber, top: 2, colourOf: modelColour }, ({ batches }) => {
      return new Map(batches.map(({ model, version, meanSize }) => [`${model} v${version}`, meanSize]));
    }),
    plotted('chart-queues', { format: formatNumber, top: 4 }, ({ queued, inFlightInputs }) => {
      return new Map([
        ['waiting', queued],
        ['at work', inFlightInputs],
      ]);
    }),
    plotted('chart-cache', { format: formatShare, fixed: true }, ({ cache }) => {
      return new Map([
        ['hit', cache.hitShare],
        ['joined one under way', cache.joinShare],
      ]);
    }),
  ];

  push(frame: FeedFrame): void {
    for (const { chart, points } of this.plotted) chart.push(frame.atMs, points(frame));
  }

  draw(): void {
    for (const { chart } of this.plotted) chart.draw();
  }

  restyle(): void {
    for (const { chart } of this.plotted) chart.restyle();
  }
}

function plotted(id: string, options: TimeChartOptions, points: Plotted['points']): Plotted {
  return { chart: new TimeChart(byId(id, HTMLElement), options), points };
}
