import type { AlignedData, Options, Series } from 'uplot';
import uPlot from './uPlot.esm.js';
import { Colours } from './colours.js';
import { element, setText } from './dom.js';
import { History, HISTORY_POINTS } from './history.js';

export interface TimeChartOptions {
  /** How a value is written, beside the chart and at its axis. */
  readonly format: (value: number) => string;
  /** The axis reaches to here at least. */
  readonly top?: number;
  /** Fixed: it reaches no further. */
  readonly fixed?: boolean;
  /** The custom property with the colour of a series; each series has its own unless said otherwise. */
  readonly colourOf?: (name: string) => string;
}

const SECONDS_SHOWN = HISTORY_POINTS / 2;
const AXIS_FONT = '12px system-ui, sans-serif';

/** Lines over the last two minutes, with their names and latest values below. */
export class TimeChart {
  private readonly history = new History();
  private readonly place = element('div', { class: 'plot' });
  private readonly keys = element('ul', { class: 'keys' });
  private values: HTMLElement[] = [];
  private plot: uPlot | undefined;
  private readonly colours = new Colours();

  constructor(
    private readonly root: HTMLElement,
    private readonly options: TimeChartOptions,
  ) {
    this.place.setAttribute('aria-hidden', 'true');
    root.append(this.place, this.keys);
    new ResizeObserver(() => this.resize()).observe(this.place);
  }

  /** Adds a point without drawing it. */
  push(atMs: number, values: ReadonlyMap<string, number | null>): void {
    if (this.history.push(atMs / 1000, values)) this.rebuild();
  }

  clear(): void {
    this.history.clear();
    this.rebuild();
  }

  draw(): void {
    const { history, options } = this;
    this.plot?.setData(this.data());
    history.names.forEach((name, at) => {
      const last = history.last(name);
      setText(this.values[at], last === null ? '–' : options.format(last));
    });
    this.root.dataset.points = String(history.times.length);
  }

  /** Colours changed. */
  restyle(): void {
    this.plot?.redraw(false);
  }

  private data(): AlignedData {
    const { history } = this;
    return [history.times, ...history.names.map((name) => history.column(name))] as AlignedData;
  }

  private rebuild(): void {
    this.plot?.destroy();
    const { names } = this.history;
    this.values = [];
    this.keys.replaceChildren(
      ...names.map((name) => {
        const swatch = element('span', { class: 'swatch' });
        swatch.style.setProperty('--colour', `var(${this.colourOf(name)})`);
        const value = element('span', { class: 'value', text: '–' });
        this.values.push(value);
        return element('li', {}, swatch, element('span', { class: 'key', text: name }), value);
      }),
    );
    this.plot = new uPlot(this.uPlotOptions(names), this.data(), this.place);
  }

  private uPlotOptions(names: readonly string[]): Options {
    const { format, top = 1, fixed = false } = this.options;
    const quiet = (): string => cssValue('--quiet');
    const line = (): string => cssValue('--line');
    const axis = { font: AXIS_FONT, stroke: quiet, grid: { stroke: line, width: 1 }, ticks: { show: false } };
    return {
      width: Math.max(100, this.place.clientWidth),
      height: this.place.clientHeight,
      legend: { show: false },
      cursor: { show: false },
      padding: [8, 26, 0, 0],
      scales: {
        x: { range: (_plot, _first, last) => [last - SECONDS_SHOWN, last] },
        y: { range: (_plot, _least, most) => [0, fixed ? top : Math.max(top, most * 1.08)] },
      },
      axes: [
        { ...axis, space: 80, size: 28, values: (_plot, splits) => splits.map(timeOfDay) },
        { ...axis, size: 58, space: 34, values: (_plot, splits) => splits.map(format) },
      ],
      series: [
        {},
        ...names.map((label): Series => ({
          label,
          stroke: () => cssValue(this.colourOf(label)),
          width: 2,
          points: { show: false },
        })),
      ],
    };
  }

  private colourOf(name: string): string {
    return this.options.colourOf?.(name) ?? this.colours.of(name);
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.place;
    if (clientWidth > 0) this.plot?.setSize({ width: clientWidth, height: clientHeight });
  }
}

function timeOfDay(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString([], { hourCycle: 'h23' });
}

function cssValue(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name);
}
