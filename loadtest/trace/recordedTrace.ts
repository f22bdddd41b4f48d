import { momentOf, nsBetween, UNIT_NAMES, type Timestamp, type TimeUnit } from './timestamp.js';
import { LoadError } from './loadError.js';
import type { Arrival, Trace } from './trace.js';
import { ColumnNames } from './columnNames.js';
import { checkSpread, SpreadArrivals, type Spread } from './countedTrace.js';
import { checkFormat, formatOf, openRows, type TraceFormat } from './traceFormat.js';
import { KeyedDraw } from '../../selection/index.js';
import type { TraceRow, TraceRows, WrittenTime } from './traceRows.js';
import type { Deal } from './traceSpec.js';
import { surveyTrace, type TraceSurvey } from './traceSurvey.js';
import { checkUnit } from './traceUnit.js';

export interface RecordedTraceOptions {
  /** Arrivals come so many times as fast. */
  readonly scale: number;
  /** One of the formats; undefined: what the file begins as. */
  readonly format?: string;
  /** Unit of times that are numbers; undefined: what names and magnitudes say. */
  readonly timeUnit?: string;
  /** What the file calls the product's columns, `NAME=COLUMN` each. */
  readonly columns?: readonly string[];
  /** Where arrivals are within a stretch that only counts them. */
  readonly spread?: string;
  readonly deal?: Deal;
}

/**
 * Arrivals of a file. It is read twice: once to find out what it is, and once as it is run, however long it is. The
 * first arrival is at zero; the others keep their distances, divided by the scale.
 * @throws LoadError naming the option or line at fault, and the fix.
 */
export function openRecordedTrace(path: string, seed: number, options: RecordedTraceOptions): Trace {
  const asked = options.timeUnit === undefined ? undefined : checkUnit(options.timeUnit);
  const format = options.format === undefined ? formatOf(path) : checkFormat(options.format);
  const spread = options.spread === undefined ? 'random' : checkSpread(options.spread);
  const choices = { columns: new ColumnNames(options.columns), deal: options.deal };
  const survey = surveyTrace(path, openRows(path, format, choices), asked);
  if (options.spread !== undefined && !survey.isCounted) {
    throw new LoadError('--spread', `it is for traces that count arrivals, and ${path} has each of them`);
  }
  return new RecordedTrace(path, openRows(path, format, choices), survey, {
    ...options,
    format,
    spread,
    seed,
  });
}

interface TraceChoices {
  readonly format: TraceFormat;
  readonly scale: number;
  readonly spread: Spread;
  readonly seed: number;
}

class RecordedTrace implements Trace {
  readonly summary: readonly string[];
  readonly meanPerSecond: number | undefined;
  private readonly unit: TimeUnit;
  private readonly first: Timestamp;

  private readonly scale: number;
  private readonly spread: Spread;
  private readonly binNs: number;
  private readonly draw: KeyedDraw;
  private arrivals = 0;
  /** Read, and not in a stretch yet. */
  private ahead: TraceRow | undefined;
  private stretch: SpreadArrivals<TraceRow> | undefined;

  constructor(
    readonly name: string,
    private readonly rows: TraceRows,
    survey: TraceSurvey,
    { format, scale, spread, seed }: TraceChoices,
  ) {
    this.scale = scale;
    this.spread = spread;
    this.binNs = survey.binSeconds * 1e9;
    this.draw = new KeyedDraw(seed);
    this.unit = survey.unit?.unit ?? 's';
    const mean = meanOf(survey);
    this.meanPerSecond = mean === undefined ? undefined : mean * scale;
    this.first = this.momentOf(survey.first);
    this.summary = summaryOf(survey, { name, format, timeName: rows.timeName, scale });
  }

  next(): Arrival | undefined {
    for (;;) {
      const spread = this.stretch?.next(this.draw.of(`arrival ${this.arrivals}`));
      if (spread !== undefined) {
        this.arrivals += 1;
        return this.arrivalOf(spread.what, spread.at);
      }
      const row = this.ahead ?? this.rows.next();
      this.ahead = undefined;
      if (row === undefined) return undefined;
      const atNs = this.sinceFirstNs(row);
      if (row.count === undefined) return this.arrivalOf(row, atNs);
      this.stretch = this.stretchOf(row, atNs);
    }
  }

  progress(): number | undefined {
    return this.rows.progress();
  }

  close(): void {
    this.rows.close();
  }

  private arrivalOf(
    { time: _time, timeText: _text, count: _count, ...row }: TraceRow,
    atNs: number,
  ): Arrival {
    return { ...row, atNs: atNs / this.scale };
  }

  /** All that is counted for one time: arrivals of several applications come mixed. */
  private stretchOf(first: TraceRow, atNs: number): SpreadArrivals<TraceRow> {
    const counted = [{ what: first, count: first.count ?? 1 }];
    for (;;) {
      this.ahead = this.rows.next();
      if (this.ahead === undefined || this.sinceFirstNs(this.ahead) !== atNs) break;
      counted.push({ what: this.ahead, count: this.ahead.count ?? 1 });
    }
    return new SpreadArrivals(counted, atNs, this.binNs, this.spread);
  }

  private sinceFirstNs({ time }: TraceRow): number {
    return nsBetween(this.first, this.momentOf(time));
  }

  private momentOf(time: WrittenTime): Timestamp {
    return 'date' in time ? time.date : momentOf(time.number, this.unit);
  }
}

function summaryOf(
  survey: TraceSurvey,
  { name, format, timeName, scale }: { name: string; format: TraceFormat; timeName: string; scale: number },
): readonly string[] {
  const { arrivals, unit, first, last, spanSeconds, mostInASecond, mostAtOnce } = survey;
  const span = `span ${figure(spanSeconds)} s`;
  const mean = meanOf(survey);
  const rate = mean === undefined ? '' : `mean ${figure(mean)} a second, `;
  const scaled =
    scale === 1
      ? ''
      : `; at --scale ${scale}: ${figure(spanSeconds / scale)} s${mean === undefined ? '' : `, mean ${figure(mean * scale)} a second`}`;
  return [
    `${name} (${format}): ${arrivals} arrivals, first ${shown(first, survey)}, last ${shown(last, survey)}, ${span}`,
    unit === undefined
      ? `${timeName}: dates`
      : `${timeName}: ${UNIT_NAMES[unit.unit]}, ${unit.why}${unit.why === 'as --time-unit says' ? '' : ' (--time-unit says otherwise)'}`,
    survey.isCounted
      ? `${rate}at most ${survey.mostInABin} in ${figure(survey.binSeconds)} s, of which only their number is known${scaled}`
      : `${rate}at most ${mostInASecond} in a second and ${mostAtOnce} at once${scaled}`,
  ];
}

/** undefined: all come at one moment. */
function meanOf({ arrivals, spanSeconds, isCounted }: TraceSurvey): number | undefined {
  if (spanSeconds <= 0) return undefined;
  return (isCounted ? arrivals : arrivals - 1) / spanSeconds;
}

function shown(time: WrittenTime, { unit }: TraceSurvey): string {
  const moment = 'date' in time ? time.date : momentOf(time.number, unit?.unit ?? 's');
  if ('date' in time || unit?.isSinceEpoch === true) {
    return new Date(moment.seconds * 1000 + moment.ns / 1e6).toISOString();
  }
  return `${figure(moment.seconds + moment.ns / 1e9)} s`;
}

/** Six digits. */
function figure(value: number): string {
  return String(Number(value.toPrecision(6)));
}
