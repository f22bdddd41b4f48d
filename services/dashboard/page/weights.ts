import type { ApplicationView, FeedFrame } from '../feedFrame.js';
import { modelColour } from './colours.js';
import { byId, setOptions } from './dom.js';
import { formatShare } from './format.js';
import type { Recording } from './recording.js';
import { TimeChart } from './timeChart.js';
import type { TimeWindow } from './timeWindow.js';

/** What the policy of one application gives its models, over time. */
export class Weights {
  private readonly select = byId('weights-application', HTMLSelectElement);
  private readonly chart = new TimeChart(byId('chart-weights', HTMLElement), {
    label: 'Selection weights',
    format: formatShare,
    fixed: true,
    colourOf: modelColour,
    none: 'Not recorded.',
  });

  constructor(private readonly redraw: () => void) {
    this.select.addEventListener('change', () => this.redraw());
  }

  /** Applications that can be chosen. */
  offer({ applications }: FeedFrame): void {
    // Those with a choice first: the others' weights say nothing.
    const names = [...applications]
      .sort((a, b) => Number(b.shares.length > 1) - Number(a.shares.length > 1))
      .map(({ name }) => name);
    if (setOptions(this.select, names)) this.redraw();
  }

  /** Chooses this application. */
  show(application: string): void {
    if (this.select.value === application) return;
    this.select.value = application;
    this.redraw();
  }

  draw(recording: Recording, shown: TimeWindow): void {
    const history = recording.chart(`weights/${this.select.value}`);
    this.chart.draw({ history, shown, changes: recording.changes });
  }

  restyle(): void {
    this.chart.restyle();
  }
}

export function sharesOf({ shares }: ApplicationView): ReadonlyMap<string, number> {
  return new Map(shares.map(({ model, share }) => [model, share]));
}
