import type { Change, HistoryEvent, PointEvent, RecordedChart } from '../feedFrame.js';
import { History, type Column } from './history.js';

const NOTHING: ReadonlyMap<string, null> = new Map();

/** Of a server that has just begun. */
const LEAST_SECONDS = 120;

/** Changes that are shown, whatever was sent, and alerts beside them. */
const MOST_CHANGES = 200;
const MOST_ALERTS = 50;

/** The last ten minutes, as the server has recorded them: loaded at once, continued point by point. */
export class Recording {
  private charts = new Map<string, History>();
  private points = 0;
  private everyMs = 0;
  private told: readonly Change[] = [];
  readonly times: number[] = [];

  /** What can be shown, in seconds: all there is, and two minutes where that is less. */
  get spanSeconds(): number {
    const [oldest = this.newest] = this.times;
    const recorded = this.newest - oldest + this.everyMs / 1000;
    return Math.min(this.fullSeconds, Math.max(LEAST_SECONDS, recorded));
  }

  /** Of the newest point, in seconds. */
  get newest(): number {
    return this.times.at(-1) ?? Date.now() / 1000;
  }

  get changes(): readonly Change[] {
    return this.told;
  }

  /** One of which nothing is known has no series. */
  chart(name: RecordedChart): History {
    return this.charts.get(name) ?? this.emptyChart();
  }

  load({ everyMs, points, times, columns, changes }: HistoryEvent): void {
    this.points = points;
    this.everyMs = everyMs;
    this.times.splice(0, Infinity, ...times.map(toSeconds));
    const byChart = new Map<string, Column[]>();
    for (const column of columns) {
      const of = byChart.get(column[0]);
      if (of === undefined) byChart.set(column[0], [column]);
      else of.push(column);
    }
    this.charts = new Map();
    for (const [chart, of] of byChart) {
      const history = new History(points);
      history.load(
        this.times,
        of.map(([, name, values]) => [name, values]),
      );
      this.charts.set(chart, history);
    }
    this.told = newest(changes);
  }

  push({ atMs, values, changes }: PointEvent): void {
    const time = toSeconds(atMs);
    const byChart = new Map<string, Map<string, number | null>>();
    for (const [chart, name, value] of values) {
      let of = byChart.get(chart);
      if (of === undefined) byChart.set(chart, (of = new Map<string, number | null>()));
      of.set(name, value);
      if (this.charts.has(chart)) continue;
      this.charts.set(chart, this.emptyChart());
    }
    this.times.push(time);
    if (this.times.length > this.points) this.times.shift();
    for (const [chart, history] of this.charts) {
      history.push(time, byChart.get(chart) ?? NOTHING);
      if (history.names.length === 0) this.charts.delete(chart);
    }
    const oldest = time - this.fullSeconds;
    this.told = newest([...this.told, ...changes].filter(({ at }) => toSeconds(at) >= oldest));
  }

  private get fullSeconds(): number {
    return (this.points * this.everyMs) / 1000;
  }

  private emptyChart(): History {
    const history = new History(this.points);
    history.load(this.times, []);
    return history;
  }
}

function toSeconds(ms: number): number {
  return ms / 1000;
}

/** Alerts that come and go drive out no change. */
function newest(changes: readonly Change[]): readonly Change[] {
  const left = { changes: MOST_CHANGES, alerts: MOST_ALERTS };
  return [...changes]
    .reverse()
    .filter(({ kind }) => left[kind === 'alert' || kind === 'resolved' ? 'alerts' : 'changes']-- > 0)
    .reverse();
}
