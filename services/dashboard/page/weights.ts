import type { ApplicationView, FeedFrame } from '../feedFrame.js';
import { modelColour } from './colours.js';
import { byId, setOptions } from './dom.js';
import { formatShare } from './format.js';
import { TimeChart } from './timeChart.js';

/** What the policy of one application gives its models, over time. */
export class Weights {
  private readonly select = byId('weights-application', HTMLSelectElement);
  private readonly chart = new TimeChart(byId('chart-weights', HTMLElement), {
    format: formatShare,
    fixed: true,
    colourOf: modelColour,
  });

  constructor() {
    this.select.addEventListener('change', () => this.chart.clear());
  }

  push({ atMs, seconds, applications }: FeedFrame): void {
    // Applications with a choice first: the others' weights say nothing.
    const names = [...applications]
      .sort((a, b) => Number(b.shares.length > 1) - Number(a.shares.length > 1))
      .map(({ name }) => name);
    if (setOptions(this.select, names)) this.chart.clear();
    const chosen = applications.find(({ name }) => name === this.select.value);
    if (chosen !== undefined && seconds > 0) this.chart.push(atMs, sharesOf(chosen));
  }

  /** Shows this application's, from now on. */
  show(application: string): void {
    if (this.select.value === application) return;
    this.select.value = application;
    this.chart.clear();
  }

  draw(): void {
    this.chart.draw();
  }

  restyle(): void {
    this.chart.restyle();
  }
}

export function sharesOf({ shares }: ApplicationView): ReadonlyMap<string, number> {
  return new Map(shares.map(({ model, share }) => [model, share]));
}
