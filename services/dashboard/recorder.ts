import type { ApplicationTraffic, HistogramTally, ModelTraffic } from '../telemetry/index.js';
import type { Change, HistoryEvent, LatencyView, PointEvent, RecordedChart } from './feedFrame.js';
import { Busiest } from './busiest.js';
import type { DashboardSources } from './frameSource.js';
import { GpuReader } from './gpuReader.js';
import { History, type Column } from './page/history.js';
import { LatencyReader, TrafficReader, type TrafficFigures } from './trafficReader.js';

/** Ten minutes, a point every other second. */
export const EVERY_MS = 2000;
export const POINTS = 300;

/** Of applications, and of model versions: of more of them, the busiest. */
export const MOST_RECORDED = 16;
/** Of applications with a choice among models. */
export const MOST_WEIGHED = 8;
/** Of one application's models. */
const MOST_WEIGHTS = 8;
/** Changes that are remembered, of the same ten minutes. */
export const MOST_CHANGES = 200;
/** Of alerts beside them: those that fire and end all the time drive out no change. */
export const MOST_ALERTS = 50;
/** Of a chart that is bounded by nothing else. */
const MOST_SERIES = 32;

const DIGITS = 4;

type Values = Map<string, number | null>;
const NOTHING: ReadonlyMap<string, null> = new Map();

/**
 * The last ten minutes of what the charts show, kept from the server's start on whether anybody looks or not: a page that is
 * opened late, or once more, shows what one that was open all the while does. It reads counts that go on anyhow, and keeps as
 * much of a thousand applications as of a few.
 */
export class Recorder {
  private readonly traffic: TrafficReader;
  private readonly gpus = new GpuReader();
  private readonly charts = new Map<string, History>();
  private readonly applications = new Busiest(MOST_RECORDED);
  private readonly models = new Busiest(MOST_RECORDED);
  /** Of those that are recorded. */
  private readonly applicationLatencies: Latencies = new Map();
  private readonly modelLatencies: Latencies = new Map();
  /** Tallies of before the last point. */
  private readonly known = new WeakSet<HistogramTally>();
  private readonly weighed = new Busiest(MOST_WEIGHED);
  private readonly timer: NodeJS.Timeout;
  private readonly unwatch: () => void;
  private times: number[] = [];
  private changes: Change[] = [];
  private newChanges: Change[] = [];
  private cache: ReturnType<DashboardSources['cacheStats']>;
  private lastMs: number;
  private number = 0;
  private pointText = '';
  private historyText: string | undefined;

  constructor(private readonly sources: DashboardSources) {
    this.traffic = new TrafficReader(sources.traffic);
    this.noteTallies(this.tallies());
    this.cache = sources.cacheStats();
    this.lastMs = sources.nowMs();
    this.gpus.take(sources.nodes(), 0);
    this.unwatch = sources.watchChanges((change) => this.onChange(change));
    this.timer = setInterval(() => this.record(), EVERY_MS);
    this.timer.unref();
  }

  /** Of the latest point. */
  get latest(): number {
    return this.number;
  }

  /** What somebody who has the points up to `number` lacks, as server-sent events: the last point, or all of it. */
  since(number: number | undefined): string {
    if (number === this.number) return '';
    if (number !== undefined && number === this.number - 1) return this.pointText;
    return (this.historyText ??= eventOf('history', this.history()));
  }

  close(): void {
    clearInterval(this.timer);
    this.unwatch();
  }

  private record(): void {
    const atMs = this.sources.nowMs();
    const seconds = (atMs - this.lastMs) / 1000;
    this.lastMs = atMs;
    // A clock that was set back: what was recorded lies in its future.
    if (seconds < 0) this.forget();
    const charts = this.point(this.traffic.take(seconds), seconds);
    this.times.push(atMs);
    if (this.times.length > POINTS) this.times.shift();
    for (const [chart, values] of charts) {
      let history = this.charts.get(chart);
      if (history === undefined) this.charts.set(chart, (history = this.newHistory()));
      history.push(atMs, values);
    }
    for (const [chart, history] of this.charts) {
      if (!charts.has(chart)) history.push(atMs, NOTHING);
      if (history.names.length === 0) this.charts.delete(chart);
    }
    const changes = this.newChanges;
    this.newChanges = [];
    this.changes = [...this.changes, ...changes].filter(({ at }) => at > atMs - EVERY_MS * POINTS);
    this.changes = newest(this.changes);
    this.number += 1;
    this.historyText = undefined;
    const columns = [...charts].flatMap(([chart, values]) =>
      [...values].map(([name, value]): PointEvent['values'][number] => [chart, name, value]),
    );
    this.pointText = eventOf('point', { atMs, values: columns, changes });
  }

  private newHistory(): History {
    const history = new History(POINTS, MOST_SERIES);
    // It has been empty for as long as the others have not.
    history.load(this.times.slice(0, -1), []);
    return history;
  }

  private forget(): void {
    this.charts.clear();
    this.times = [];
    // Points do not follow one another any more: everybody needs all of it.
    this.number += 1;
  }

  private history(): HistoryEvent {
    const columns: Column[] = [];
    for (const [chart, history] of this.charts) {
      for (const name of history.names) columns.push([chart, name, history.column(name)]);
    }
    return { everyMs: EVERY_MS, points: POINTS, times: this.times, columns, changes: this.changes };
  }

  private point(traffic: TrafficFigures, seconds: number): Map<string, Values> {
    const charts = new Map<string, Values>();
    const put = (chart: RecordedChart, name: string, value: number | null): void => {
      let values = charts.get(chart);
      if (values === undefined) charts.set(chart, (values = new Map<string, number | null>()));
      values.set(name, value === null ? null : rounded(value));
    };
    const { predicted, defaulted, refused, cancelled } = traffic.queries;
    put('rate', 'predicted', predicted);
    put('rate', 'default output', defaulted);
    put('rate', 'refused', refused);
    put('rate', 'cancelled', cancelled);
    put('latency', 'median', traffic.latency?.p50Ms ?? null);
    put('latency', '99th percentile', traffic.latency?.p99Ms ?? null);
    // Reasons that there were lately: none now is none, and no gap.
    const reasons = this.charts.get('defaults');
    for (const reason of reasons?.names ?? []) {
      if (reasons?.column(reason).some((rate) => rate !== null && rate > 0) === true)
        put('defaults', reason, 0);
    }
    for (const [reason, rate] of traffic.defaults) put('defaults', reason, rate);
    const tallies = this.tallies();
    this.putApplications(traffic, tallies, put);
    this.putModels(traffic, tallies, put);
    this.putWeights(traffic, put);
    this.noteTallies(tallies);
    const queues = this.sources.replicas();
    put(
      'queues',
      'waiting',
      queues.reduce((sum, { queued }) => sum + queued, 0),
    );
    put(
      'queues',
      'at work',
      queues.reduce((sum, { inFlightItems }) => sum + inFlightItems, 0),
    );
    this.putCache(put);
    for (const of of this.gpus.take(this.sources.nodes(), seconds)) {
      put('gpuBusy', of.gpu, of.busyShare);
      put('gpuLaunches', of.gpu, of.launchesPerSecond);
      if (of.kills > 0) put('gpuKills', of.gpu, of.kills);
      if (of.saves > 0) put('gpuSaves', of.gpu, of.saves);
      if (of.drains > 0) put('gpuDrains', of.gpu, of.drains);
    }
    return charts;
  }

  /** To be gone through more than once. */
  private tallies(): Tallies {
    const { applications, models } = this.sources.traffic();
    return { applications: [...applications], models: [...models] };
  }

  private noteTallies({ applications, models }: Tallies): void {
    for (const { latency } of applications) this.known.add(latency);
    for (const { latency } of models) this.known.add(latency);
  }

  private putApplications({ applications: found }: TrafficFigures, tallies: Tallies, put: Put): void {
    const { applications } = this;
    applications.note(found);
    this.keep(['applicationRate', 'applicationP50', 'applicationP99'], (name) => {
      return applications.has(nameOf(name));
    });
    for (const [application, answersPerSecond] of found) {
      if (applications.has(application)) put('applicationRate', shownAs(application), answersPerSecond);
    }
    const readers = this.applicationLatencies;
    for (const name of readers.keys()) if (!applications.has(name)) readers.delete(name);
    for (const { name, latency } of tallies.applications) {
      if (!applications.has(name)) continue;
      this.putLatency(
        'application',
        shownAs(name),
        readerOf(readers, name).take(latency, this.known.has(latency)),
        put,
      );
    }
  }

  private putModels({ models: found }: TrafficFigures, tallies: Tallies, put: Put): void {
    const { models } = this;
    models.note(found.map((of) => [labelOf(of), of.inputsPerSecond]));
    this.keep(['batches', 'modelP50', 'modelP99'], (name) => models.has(name));
    for (const of of found) if (models.has(labelOf(of))) put('batches', labelOf(of), of.meanSize);
    const readers = this.modelLatencies;
    for (const name of readers.keys()) if (!models.has(name)) readers.delete(name);
    for (const of of tallies.models) {
      const name = labelOf(of);
      if (!models.has(name)) continue;
      const latency = readerOf(readers, name).take(of.latency, this.known.has(of.latency));
      this.putLatency('model', name, latency, put);
    }
  }

  private putLatency(of: 'application' | 'model', name: string, latency: LatencyView | null, put: Put): void {
    if (latency === null) return;
    put(`${of}P50`, name, latency.p50Ms);
    put(`${of}P99`, name, latency.p99Ms);
  }

  /** Drops what was recorded of names that are recorded no longer. */
  private keep(charts: readonly RecordedChart[], isWanted: (name: string) => boolean): void {
    for (const chart of charts) this.charts.get(chart)?.keep(isWanted);
  }

  private putWeights({ applications: found }: TrafficFigures, put: Put): void {
    const { registry, selectionShares } = this.sources;
    const names = registry.applications().map(({ name }) => name);
    // Those that nobody asks are shown where there is room.
    this.weighed.note(names.map((name) => [name, LEAST_WEIGHT + (found.get(name) ?? 0)]));
    for (const chart of this.charts.keys()) {
      if (chart.startsWith(WEIGHTS) && !this.weighed.has(chart.slice(WEIGHTS.length)))
        this.charts.delete(chart);
    }
    for (const application of names) {
      if (!this.weighed.has(application)) continue;
      const shares = selectionShares(application);
      for (const { name } of registry.linkedModels(application).slice(0, MOST_WEIGHTS)) {
        put(`${WEIGHTS}${application}`, name, shares?.get(name) ?? 0);
      }
    }
  }

  private putCache(put: Put): void {
    const before = this.cache;
    const { requests, hits, joins } = (this.cache = this.sources.cacheStats());
    const lookups = requests - before.requests;
    put('cache', 'hit', lookups > 0 ? (hits - before.hits) / lookups : null);
    put('cache', 'joined one under way', lookups > 0 ? (joins - before.joins) / lookups : null);
  }

  /** What happens again and again within a point's time is one mark. */
  private onChange(change: Change): void {
    const same = this.newChanges.findIndex(
      ({ kind, what, text }) => kind === change.kind && what === change.what && text === change.text,
    );
    if (same >= 0) this.newChanges[same] = change;
    else this.newChanges = newest([...this.newChanges, change]);
  }
}

/** Of alerts and of everything else those that came last. */
function newest(changes: readonly Change[]): Change[] {
  const left = { changes: MOST_CHANGES, alerts: MOST_ALERTS };
  return [...changes]
    .reverse()
    .filter(({ kind }) => left[kind === 'alert' || kind === 'resolved' ? 'alerts' : 'changes']-- > 0)
    .reverse();
}

interface Tallies {
  readonly applications: readonly ApplicationTraffic[];
  readonly models: readonly ModelTraffic[];
}

/** By name. */
type Latencies = Map<string, TallyReader>;

/** Percentiles of one name's tally, which may be another one the next time. */
class TallyReader {
  private tally: HistogramTally | undefined;
  private reader = new LatencyReader();

  /** @param isOld it has been counting for longer than a point's time */
  take(tally: HistogramTally, isOld: boolean): LatencyView | null {
    if (tally !== this.tally) {
      this.tally = tally;
      this.reader = new LatencyReader();
      if (isOld) this.reader.take([tally]);
    }
    return this.reader.take([tally]);
  }
}

function readerOf(readers: Latencies, name: string): TallyReader {
  let reader = readers.get(name);
  if (reader === undefined) readers.set(name, (reader = new TallyReader()));
  return reader;
}

function labelOf({ model, version }: { readonly model: string; readonly version: string }): string {
  return `${model} v${version}`;
}

type Put = (chart: RecordedChart, name: string, value: number | null) => void;

const WEIGHTS = 'weights/';
/** Of an application that nobody asks. */
const LEAST_WEIGHT = 0.01;

/** No application has this name. */
const BY_NAME = 'models by name';

function shownAs(application: string): string {
  return application === '' ? BY_NAME : application;
}

function nameOf(shown: string): string {
  return shown === BY_NAME ? '' : shown;
}

function rounded(value: number): number {
  return Number(value.toPrecision(DIGITS));
}

/** JSON has no line ends outside its strings and escapes those within: one `data` line holds it. */
export function eventOf(event: 'history' | 'point' | 'message', data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
