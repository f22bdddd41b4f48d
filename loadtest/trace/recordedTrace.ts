import { momentOf, nsBetween, UNIT_NAMES, type Timestamp, type TimeUnit } from './timestamp.js';
import type { Arrival, Trace } from './trace.js';
import { checkFormat, formatOf, openRows, type TraceFormat } from './traceFormat.js';
import type { TraceRows, WrittenTime } from './traceRows.js';
import { surveyTrace, type TraceSurvey } from './traceSurvey.js';
import { checkUnit } from './traceUnit.js';

export interface RecordedTraceOptions {
  /** Arrivals come so many times as fast. */
  readonly scale: number;
  /** One of the formats; undefined: what the file begins as. */
  readonly format?: string;
  /** Unit of times that are numbers; undefined: what names and magnitudes say. */
  readonly timeUnit?: string;
}

/**
 * Arrivals of a file. It is read twice: once to find out what it is, and once as it is run, however long it is. The
 * first arrival is at zero; the others keep their distances, divided by the scale.
 * @throws LoadError naming the option or line at fault, and the fix.
 */
export function openRecordedTrace(path: string, options: RecordedTraceOptions): Trace {
  const asked = options.timeUnit === undefined ? undefined : checkUnit(options.timeUnit);
  const format = options.format === undefined ? formatOf(path) : checkFormat(options.format);
  const survey = surveyTrace(path, openRows(path, format), asked);
  return new RecordedTrace(path, options.scale, openRows(path, format), survey, format);
}

class RecordedTrace implements Trace {
  readonly summary: readonly string[];
  private readonly unit: TimeUnit;
  private readonly first: Timestamp;

  constructor(
    readonly name: string,
    private readonly scale: number,
    private readonly rows: TraceRows,
    survey: TraceSurvey,
    format: TraceFormat,
  ) {
    this.unit = survey.unit?.unit ?? 's';
    this.first = this.momentOf(survey.first);
    this.summary = summaryOf(survey, { name, format, timeName: rows.timeName, scale });
  }

  next(): Arrival | undefined {
    const row = this.rows.next();
    if (row === undefined) return undefined;
    return { ...row, atNs: nsBetween(this.first, this.momentOf(row.time)) / this.scale };
  }

  progress(): number | undefined {
    return this.rows.progress();
  }

  close(): void {
    this.rows.close();
  }

  private momentOf(time: WrittenTime): Timestamp {
    return 'date' in time ? time.date : momentOf(time.number, this.unit);
  }
}

function summaryOf(
  survey: TraceSurvey,
  { name, format, timeName, scale }: { name: string; format: TraceFormat; timeName: string; scale: number },
): readonly string[] {
  const { rows, unit, first, last, spanSeconds, mostInASecond, mostAtOnce } = survey;
  const span = `span ${figure(spanSeconds)} s`;
  const mean = spanSeconds > 0 ? (rows - 1) / spanSeconds : undefined;
  const rate = mean === undefined ? '' : `mean ${figure(mean)} a second, `;
  const scaled =
    scale === 1
      ? ''
      : `; at --scale ${scale}: ${figure(spanSeconds / scale)} s${mean === undefined ? '' : `, mean ${figure(mean * scale)} a second`}`;
  return [
    `${name} (${format}): ${rows} arrivals, first ${shown(first, survey)}, last ${shown(last, survey)}, ${span}`,
    unit === undefined
      ? `${timeName}: dates`
      : `${timeName}: ${UNIT_NAMES[unit.unit]}, ${unit.why}${unit.why === 'as --time-unit says' ? '' : ' (--time-unit says otherwise)'}`,
    `${rate}at most ${mostInASecond} in a second and ${mostAtOnce} at once${scaled}`,
  ];
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
