import { byId, cssValue, element, setText } from './dom.js';
import { formatNumber, formatShare } from './format.js';
import { heatOf } from './heat.js';
import type { History } from './history.js';
import type { Recording } from './recording.js';
import type { TimeControls } from './timeControls.js';
import type { TimeWindow } from './timeWindow.js';

/** Ways in which launches are taken off the SMs. */
const PREEMPTIONS = [
  { chart: 'gpuKills', words: 'killed, to run again', symbol: '✖', colour: '--bad' },
  { chart: 'gpuSaves', words: 'copied out, to go on later', symbol: '◆', colour: '--warn' },
  { chart: 'gpuDrains', words: 'waited for', symbol: '●', colour: '--accent' },
] as const;

/** In CSS pixels: marks, the strip of busy time, the bars of launches. */
const MARKS = 16;
const STRIP = 12;
const BARS = 40;
const GAP = 3;
const HEIGHT = MARKS + STRIP + GAP + BARS;
const MARK_PIXELS = 9;

/** One GPU over time: how busy it was by its colour, launches a second as bars, and marks where launches were taken off it. */
class Lane {
  readonly root = element('div', { class: 'lane' });
  private readonly words = element('p', { class: 'note' });
  private readonly canvas = element('canvas');

  constructor(readonly gpu: string) {
    this.canvas.role = 'img';
    this.root.append(element('h3', { text: gpu }), this.words, this.canvas);
  }

  draw(recording: Recording, shown: TimeWindow): void {
    const busy = recording.chart('gpuBusy');
    const launches = recording.chart('gpuLaunches');
    const inside = busy.times.map((time) => time >= shown.from && time <= shown.to);
    const sum = (history: History): number =>
      history.column(this.gpu).reduce<number>((all, value, at) => all + (inside[at] ? (value ?? 0) : 0), 0);
    const most = Math.max(
      1,
      ...launches.column(this.gpu).map((value, at) => (inside[at] ? (value ?? 0) : 0)),
    );
    const taken = PREEMPTIONS.map(({ chart, words }) => [sum(recording.chart(chart)), words] as const)
      .filter(([count]) => count > 0)
      .map(([count, words]) => `${formatNumber(count)} ${words}`);
    const share = busy.last(this.gpu);
    const rate = launches.last(this.gpu);
    const now = [
      share === null ? 'no sample' : `busy ${formatShare(share)}`,
      ...(rate === null ? [] : [`${formatNumber(rate)} launches a second, ${formatNumber(most)} at most`]),
    ];
    setText(this.words, [...now, ...(taken.length === 0 ? ['none preempted'] : taken)].join(' · '));
    this.canvas.ariaLabel = `${this.gpu}: ${this.words.textContent ?? ''}`;
    this.paint(recording, shown, most);
  }

  private paint(recording: Recording, shown: TimeWindow, most: number): void {
    const { canvas, gpu } = this;
    const scale = devicePixelRatio;
    const width = canvas.clientWidth;
    if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
    if (canvas.height !== Math.round(HEIGHT * scale)) canvas.height = Math.round(HEIGHT * scale);
    const context = canvas.getContext('2d');
    if (context === null) return;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, HEIGHT);
    const x = (time: number): number => ((time - shown.from) / shown.span) * width;
    const { times } = recording;
    const busy = recording.chart('gpuBusy').column(gpu);
    const launches = recording.chart('gpuLaunches').column(gpu);
    const [idle, hot, bar] = [cssValue('--idle'), cssValue('--hot'), cssValue('--accent')];
    for (let at = 1; at < times.length; at++) {
      if (times[at] < shown.from || times[at - 1] > shown.to) continue;
      const left = x(times[at - 1]);
      const across = Math.max(1, x(times[at]) - left);
      const share = busy[at];
      if (share !== null && share !== undefined) {
        context.globalAlpha = 1;
        context.fillStyle = idle;
        context.fillRect(left, MARKS, across, STRIP);
        context.globalAlpha = heatOf(share);
        context.fillStyle = hot;
        context.fillRect(left, MARKS, across, STRIP);
      }
      const high = ((launches[at] ?? 0) / most) * BARS;
      context.globalAlpha = 1;
      context.fillStyle = bar;
      if (high > 0) context.fillRect(left, HEIGHT - high, Math.max(1, across - 0.5), high);
    }
    context.fillStyle = cssValue('--line');
    context.fillRect(0, HEIGHT - 1, width, 1);
    this.paintMarks(context, recording, x, width);
  }

  private paintMarks(
    context: CanvasRenderingContext2D,
    recording: Recording,
    x: (time: number) => number,
    width: number,
  ): void {
    context.font = 'bold 12px system-ui, sans-serif';
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    for (const { chart, symbol, colour } of PREEMPTIONS) {
      context.fillStyle = cssValue(colour);
      let last = -Infinity;
      recording
        .chart(chart)
        .column(this.gpu)
        .forEach((count, at) => {
          const here = x(recording.times[at]);
          if (count === null || count === 0 || here < 0 || here > width || here - last < MARK_PIXELS) return;
          last = here;
          context.fillText(symbol, here, MARKS / 2);
        });
    }
  }
}

/** All GPUs over time. Keys and pointer choose the time, for all charts. */
export class GpuTimeline {
  private readonly panel = byId('gpu-timeline', HTMLElement);
  private readonly place = byId('lanes', HTMLElement);
  private lanes: readonly Lane[] = [];
  private dragged: { readonly pointer: number; readonly from: number; at: number } | undefined;

  constructor(
    private readonly shown: TimeWindow,
    controls: TimeControls,
  ) {
    const { place } = this;
    place.addEventListener('keydown', (event) => controls.onKey(event));
    place.addEventListener('dblclick', () => shown.reset());
    place.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
    place.addEventListener('pointerdown', (event) => this.onPointerDown(event));
    place.addEventListener('pointermove', (event) => this.onPointerMove(event));
    for (const end of ['pointerup', 'pointercancel'] as const) {
      place.addEventListener(end, () => (this.dragged = undefined));
    }
    const legend = PREEMPTIONS.map(({ words, symbol, colour }) => {
      const mark = element('span', { class: 'mark', text: symbol });
      mark.style.setProperty('--colour', `var(${colour})`);
      return element('li', {}, mark, element('span', { text: `launches ${words}` }));
    });
    byId('lane-marks', HTMLElement).append(...legend);
  }

  draw(recording: Recording): void {
    const gpus = recording.chart('gpuBusy').names;
    this.panel.hidden = gpus.length === 0;
    if (gpus.length !== this.lanes.length || gpus.some((gpu, at) => gpu !== this.lanes[at].gpu)) {
      this.lanes = gpus.map((gpu) => new Lane(gpu));
      this.place.replaceChildren(...this.lanes.map(({ root }) => root));
    }
    for (const lane of this.lanes) lane.draw(recording, this.shown);
  }

  /** With a key held: a wheel alone scrolls the page. */
  private onWheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    const by = event.deltaY || event.deltaX;
    this.shown.zoom(by < 0 ? 1.25 : 0.8, this.timeAt(event.clientX));
  }

  private onPointerDown(event: PointerEvent): void {
    if (event.button !== 0 || event.pointerType === 'touch') return;
    this.dragged = { pointer: event.pointerId, from: event.clientX, at: event.clientX };
    this.place.setPointerCapture(event.pointerId);
  }

  private onPointerMove({ pointerId, clientX }: PointerEvent): void {
    const { dragged } = this;
    if (dragged?.pointer !== pointerId) return;
    this.shown.pan((dragged.at - clientX) / Math.max(1, this.place.clientWidth));
    dragged.at = clientX;
  }

  private timeAt(clientX: number): number {
    const { left, width } = this.place.getBoundingClientRect();
    return this.shown.from + ((clientX - left) / Math.max(1, width)) * this.shown.span;
  }
}
