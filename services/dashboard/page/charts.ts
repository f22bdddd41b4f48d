import type { RecordedChart } from '../feedFrame.js';
import { modelColour } from './colours.js';
import { byId } from './dom.js';
import { formatMs, formatNumber, formatShare } from './format.js';
import type { Recording } from './recording.js';
import { TimeChart, type TimeChartOptions } from './timeChart.js';
import type { TimeWindow } from './timeWindow.js';

interface Plotted {
  readonly chart: TimeChart;
  readonly of: () => RecordedChart;
}

const MS = { format: formatMs, top: 0.1 };

/** Why default outputs were answered, in words; a reason that is not here is its own. */
const REASONS: Readonly<Record<string, string>> = {
  no_linked_model: 'no model linked',
  no_replica: 'no replica up',
  deadline: 'not in time',
  model_error: 'models failed',
  overload: 'overload',
};

/** The charts of what this server was asked, and what it answered. */
export class Charts {
  private readonly plotted: readonly Plotted[];

  constructor(private readonly redraw: () => void) {
    const choiceOf = (id: string): (() => string) => {
      const select = byId(id, HTMLSelectElement);
      select.addEventListener('change', () => this.redraw());
      return () => select.value;
    };
    const ofApplications = choiceOf('application-percentile');
    const ofModels = choiceOf('model-percentile');
    const rates = choiceOf('rates-by');
    this.plotted = [
      plotted('rates', () => (rates() === 'application' ? 'applicationRate' : 'rate'), {
        label: 'Queries a second',
        format: formatNumber,
        none: 'No query in the last ten minutes.',
      }),
      plotted('latency', 'latency', { label: 'Latency', ...MS }),
      plotted('defaults', 'defaults', {
        label: 'Default outputs a second, by reason',
        format: formatNumber,
        nameOf: (reason) => (Object.hasOwn(REASONS, reason) ? REASONS[reason] : reason),
        none: 'None in the last ten minutes.',
      }),
      plotted(
        'application-latency',
        () => (ofApplications() === 'P50' ? 'applicationP50' : 'applicationP99'),
        {
          label: 'Latency by application',
          none: 'No query in the last ten minutes.',
          ...MS,
        },
      ),
      plotted('model-latency', () => (ofModels() === 'P50' ? 'modelP50' : 'modelP99'), {
        label: 'Latency by model',
        none: 'No batch in the last ten minutes.',
        colourOf: modelColour,
        ...MS,
      }),
      plotted('batches', 'batches', {
        label: 'Mean batch size',
        none: 'No batch in the last ten minutes.',
        format: formatNumber,
        top: 2,
        colourOf: modelColour,
      }),
      plotted('queues', 'queues', { label: 'Inputs waiting and at work', format: formatNumber, top: 4 }),
      plotted('cache', 'cache', { label: 'Cache lookups that hit', format: formatShare, fixed: true }),
    ];
  }

  draw(recording: Recording, shown: TimeWindow): void {
    const { changes } = recording;
    for (const { chart, of } of this.plotted) chart.draw({ history: recording.chart(of()), shown, changes });
  }

  restyle(): void {
    for (const { chart } of this.plotted) chart.restyle();
  }
}

function plotted(id: string, of: RecordedChart | (() => RecordedChart), options: TimeChartOptions): Plotted {
  const chart = new TimeChart(byId(`chart-${id}`, HTMLElement), options);
  return { chart, of: typeof of === 'string' ? () => of : of };
}
