import type { AlignedData, Options, Series } from 'uplot';
import uPlot from './uPlot.esm.js';
import type { Change } from '../feedFrame.js';
import { kindOf } from './changes.js';
import { Colours } from './colours.js';
import { cssValue, element, setText } from './dom.js';
import { timeOfDay } from './format.js';
import type { History } from './history.js';
import type { TimeWindow } from './timeWindow.js';

export interface TimeChartOptions {
  /** What it shows, in words, for whoever does not see it. */
  readonly label: string;
  /** How a value is written, beside the chart and at its axis. */
  readonly format: (value: number) => string;
  /** The axis reaches to here at least. */
  readonly top?: number;
  /** Fixed: it reaches no further. */
  readonly fixed?: boolean;
  /** The custom property with the colour of a series; each series has its own unless said otherwise. */
  readonly colourOf?: (name: string) => string;
  /** How a series is called on the page. */
  readonly nameOf?: (name: string) => string;
  /** In place of series, when there are none. */
  readonly none?: string;
}

/** What a chart draws. */
export interface Drawn {
  readonly history: History;
  readonly shown: TimeWindow;
  readonly changes: readonly Change[];
}

/** As many as there are colours. */
const MOST_SERIES = 8;
const AXIS_FONT = '12px system-ui, sans-serif';
const MARK_FONT = 'bold 12px system-ui, sans-serif';
/** Marks that are closer than this are drawn as one. */
const MARK_PIXELS = 8;

/** Lines over the time that is shown, with their names and values below: the latest, or those under the pointer. */
export class TimeChart {
  private readonly place = element('div', { class: 'plot' });
  private readonly keys = element('ul', { class: 'keys' });
  private readonly more = element('p', { class: 'note' });
  private values: HTMLElement[] = [];
  private names: readonly string[] = [];
  private plot: uPlot | undefined;
  private drawn: Drawn | undefined;
  /** Of the point under the pointer. */
  private pointed: number | undefined;
  private readonly colours = new Colours();

  constructor(
    private readonly root: HTMLElement,
    private readonly options: TimeChartOptions,
  ) {
    this.place.role = 'img';
    this.more.hidden = true;
    root.append(this.place, this.keys, this.more);
    new ResizeObserver(() => this.resize()).observe(this.place);
  }

  draw(drawn: Drawn): void {
    this.drawn = drawn;
    const { history } = drawn;
    const names = history.names.slice(0, MOST_SERIES);
    const isSame = names.length === this.names.length && names.every((name, at) => name === this.names[at]);
    if (this.plot === undefined || !isSame) this.rebuild(names);
    else this.plot.setData(this.data());
    const left = history.names.length - names.length;
    this.more.hidden = left === 0;
    setText(this.more, `${left} more are not shown.`);
    this.writeValues();
    this.place.ariaLabel = this.summary();
    this.root.dataset.points = String(history.times.length);
  }

  /** Colours changed. */
  restyle(): void {
    this.plot?.redraw(false);
  }

  private data(): AlignedData {
    const { history } = this.drawn ?? { history: undefined };
    const times = history?.times ?? [];
    return [times, ...this.names.map((name) => history?.column(name) ?? [])] as AlignedData;
  }

  private rebuild(names: readonly string[]): void {
    this.plot?.destroy();
    this.names = names;
    this.values = [];
    const { none, nameOf = (name: string) => name } = this.options;
    const items = names.map((name) => {
      const swatch = element('span', { class: 'swatch' });
      swatch.style.setProperty('--colour', `var(${this.colourOf(name)})`);
      const value = element('span', { class: 'value', text: '–' });
      this.values.push(value);
      return element('li', {}, swatch, element('span', { class: 'key', text: nameOf(name) }), value);
    });
    if (items.length === 0 && none !== undefined) items.push(element('li', { class: 'note', text: none }));
    this.keys.replaceChildren(...items);
    this.plot = new uPlot(this.uPlotOptions(names), this.data(), this.place);
  }

  private writeValues(): void {
    const { history } = this.drawn ?? { history: undefined };
    this.names.forEach((name, at) => {
      const column = history?.column(name) ?? [];
      const value = this.pointed === undefined ? column.at(-1) : column[this.pointed];
      setText(this.values[at], isValue(value) ? this.options.format(value) : '–');
    });
  }

  /** The chart in words: of each series its latest value, and between what it has been in the time that is shown. */
  private summary(): string {
    const { label, format, none = 'nothing yet', nameOf = (name: string) => name } = this.options;
    if (this.drawn === undefined || this.names.length === 0) return `${label}: ${none}`;
    const { history, shown } = this.drawn;
    const first = history.times.findIndex((time) => time >= shown.from);
    const end = history.times.findLastIndex((time) => time <= shown.to) + 1;
    const words = this.names.map((name) => {
      const values = history.column(name).slice(Math.max(0, first), end);
      const known = values.filter((value) => value !== null);
      if (known.length === 0) return `${nameOf(name)} none`;
      const last = values.at(-1);
      const now = isValue(last) ? format(last) : 'none';
      return `${nameOf(name)} ${now}, between ${format(Math.min(...known))} and ${format(Math.max(...known))}`;
    });
    return `${label}, ${timeOfDay(shown.from)} to ${timeOfDay(shown.to)}: ${words.join('; ')}`;
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
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false },
        bind: {
          // All of it again: the whole recording, and not what this chart happens to hold.
          dblclick: () => () => {
            this.drawn?.shown.reset();
            return null;
          },
        },
        sync: { key: 'time', scales: ['x', null] },
      },
      padding: [14, 26, 0, 0],
      scales: {
        x: { range: () => [this.drawn?.shown.from ?? 0, this.drawn?.shown.to ?? 1] },
        y: { range: (_plot, _least, most) => [0, fixed ? top : Math.max(top, most * 1.08)] },
      },
      axes: [
        { ...axis, space: 80, size: 28, gap: 8, values: (_plot, splits) => splits.map(timeOfDay) },
        { ...axis, size: 58, space: 34, values: (_plot, splits) => splits.map(format) },
      ],
      series: [
        {},
        ...names.map((label): Series => ({
          label,
          stroke: () => cssValue(this.colourOf(label)),
          width: 2,
          // A value between gaps is no line, and shows all the same.
          points: { show: (plot, series) => isMostlyGaps(plot.data[series]), size: 5 },
        })),
      ],
      hooks: {
        draw: [(plot) => this.drawChanges(plot)],
        setCursor: [
          ({ cursor: { idx } }) => {
            this.pointed = idx ?? undefined;
            this.writeValues();
          },
        ],
        setSelect: [
          (plot) => {
            const { left, width } = plot.select;
            if (width < MARK_PIXELS) return;
            this.drawn?.shown.show(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'));
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    };
  }

  private drawChanges(plot: uPlot): void {
    if (this.drawn === undefined) return;
    const { changes, shown } = this.drawn;
    const { ctx, bbox } = plot;
    const scale = devicePixelRatio;
    ctx.save();
    ctx.font = MARK_FONT.replace('12px', `${12 * scale}px`);
    ctx.textAlign = 'center';
    ctx.textBaseline = 'bottom';
    ctx.setLineDash([3 * scale, 3 * scale]);
    ctx.lineWidth = scale;
    let last = -Infinity;
    for (const change of changes) {
      const at = change.at / 1000;
      if (at < shown.from || at > shown.to) continue;
      const x = Math.round(plot.valToPos(at, 'x', true));
      if (x - last < MARK_PIXELS * scale) continue;
      last = x;
      const { symbol, colour } = kindOf(change);
      ctx.strokeStyle = ctx.fillStyle = cssValue(colour);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.fillText(symbol, x, bbox.top);
    }
    ctx.restore();
  }

  private colourOf(name: string): string {
    return this.options.colourOf?.(name) ?? this.colours.of(name);
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.place;
    if (clientWidth > 0) this.plot?.setSize({ width: clientWidth, height: clientHeight });
  }
}

function isMostlyGaps(values: ArrayLike<number | null | undefined>): boolean {
  for (let at = 1; at < values.length; at++) if (isValue(values[at]) && isValue(values[at - 1])) return false;
  return true;
}

/** uPlot takes an undefined one for a gap, too. */
function isValue(value: number | null | undefined): value is number {
  return value !== null && value !== undefined;
}
