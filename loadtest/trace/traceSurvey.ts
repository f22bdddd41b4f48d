import { LoadError } from './loadError.js';
import { isBefore } from './nearlySorted.js';
import { TIME_UNITS, UNIT_NAMES, UNITS_PER_SECOND, type Timestamp, type TimeUnit } from './timestamp.js';
import { clip, type TraceRow, type TraceRows, type WrittenTime } from './traceRows.js';
import { chooseUnit, epochUnitOf, type ChosenUnit } from './traceUnit.js';

/** A century: what is later is no time of an arrival. */
export const LONGEST_NS = 3.2e18;
const LONGEST_SECONDS = LONGEST_NS / 1e9;

/** What is known of a trace file before it is run. */
export interface TraceSurvey {
  readonly arrivals: number;
  /** Rows count arrivals, of stretches of `binSeconds` each. */
  readonly isCounted: boolean;
  readonly binSeconds: number;
  readonly mostInABin: number;
  /** Of times that are numbers; undefined: they are dates. */
  readonly unit: ChosenUnit | undefined;
  readonly first: WrittenTime;
  readonly last: WrittenTime;
  readonly spanSeconds: number;
  /** Arrivals in the fullest of the seconds, counted from the first arrival on. */
  readonly mostInASecond: number;
  readonly mostAtOnce: number;
}

/** How many rows come in the same second, in a unit that is still to be found out. */
class SecondCounter {
  most = 0;
  private second = NaN;
  private count = 0;

  constructor(readonly perSecond: number) {}

  add(sinceFirst: number): void {
    const second = Math.floor(sinceFirst / this.perSecond);
    this.count = second === this.second ? this.count + 1 : 1;
    this.second = second;
    if (this.count > this.most) this.most = this.count;
  }
}

/**
 * Reads a file to its end and closes it.
 * @throws LoadError naming the first line that is at fault, and the fix.
 */
export function surveyTrace(path: string, rows: TraceRows, asked: TimeUnit | undefined): TraceSurvey {
  try {
    return survey(path, rows, asked);
  } finally {
    rows.close();
  }
}

function survey(path: string, rows: TraceRows, asked: TimeUnit | undefined): TraceSurvey {
  const { timeName, unit: named } = rows;
  const counters = TIME_UNITS.map((unit) => new SecondCounter(UNITS_PER_SECOND[unit]));
  // The unit in which a century is longest, as long as none is known.
  const perSecond = UNITS_PER_SECOND[asked ?? named ?? 'ns'];
  let first: WrittenTime | undefined;
  let last: WrittenTime | undefined;
  let firstValue = 0;
  let lastValue = 0;
  let count = 0;
  let atOnce = 0;
  let mostAtOnce = 0;
  let haveFractions = false;
  let arrivals = 0;
  let isCounted = false;
  let inBin = 0;
  let mostInABin = 0;
  let leastStep = Infinity;
  for (let row = rows.next(); row !== undefined; row = rows.next()) {
    const { time } = row;
    const value = 'date' in time ? secondsOf(time.date) : Number(time.number);
    if (first === undefined || last === undefined) {
      if ('date' in time && asked !== undefined) {
        throw new LoadError('--time-unit', `${timeName} of ${path} has dates: leave it out`);
      }
      first = time;
      firstValue = value;
    } else {
      checkNext(rows, row, last, lastValue, value, asked);
    }
    isCounted ||= row.count !== undefined;
    arrivals += row.count ?? 1;
    if (count > 0 && value > lastValue) {
      leastStep = Math.min(leastStep, value - lastValue);
      inBin = 0;
    }
    inBin += row.count ?? 1;
    mostInABin = Math.max(mostInABin, inBin);
    const since = value - firstValue;
    if (!(since / ('date' in time ? 1 : perSecond) <= LONGEST_SECONDS)) {
      throw problemAt(row, `${timeName} '${clip(row.timeText)}' is more than a century after the first row`);
    }
    haveFractions ||= !Number.isInteger(value);
    atOnce = count > 0 && value === lastValue ? atOnce + 1 : 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    for (const counter of counters) counter.add(since);
    last = time;
    lastValue = value;
    count += 1;
  }
  if (first === undefined || last === undefined) throw rows.problem(rows.whenEmpty);
  const unit =
    'date' in first
      ? undefined
      : chooseUnit(
          { first: firstValue, last: lastValue, rows: count, haveFractions },
          { timeName, path, ...(asked && { asked }), ...(named && { named }) },
        );
  const chosen = unit?.unit ?? 's';
  // Seconds, where there is nothing to tell them by.
  const step = leastStep === Infinity ? 1 : leastStep / ('date' in first ? 1 : UNITS_PER_SECOND[chosen]);
  const binSeconds = isCounted ? (rows.binSeconds ?? step) : 0;
  if (isCounted && arrivals === 0) throw rows.problem('it counts no arrival at all');
  return {
    arrivals,
    isCounted,
    binSeconds,
    mostInABin,
    unit,
    first,
    last,
    spanSeconds: (lastValue - firstValue) / UNITS_PER_SECOND[chosen] + binSeconds,
    mostInASecond: counters[TIME_UNITS.indexOf(chosen)].most,
    mostAtOnce,
  };
}

function checkNext(
  { timeName }: TraceRows,
  row: TraceRow,
  last: WrittenTime,
  lastValue: number,
  value: number,
  asked: TimeUnit | undefined,
): void {
  const text = clip(row.timeText);
  if ('date' in last !== 'date' in row.time) {
    const kinds =
      'date' in last ? 'a number, and the rows above have dates' : 'a date, and the rows above have numbers';
    throw problemAt(row, `${timeName} '${text}' is ${kinds}: write all in one way`);
  }
  const before = 'date' in last ? undefined : epochUnitOf(lastValue);
  const now = before === undefined ? undefined : epochUnitOf(value);
  if (asked === undefined && before !== undefined && now !== undefined && before !== now) {
    throw problemAt(
      row,
      `${timeName} '${text}' is in ${UNIT_NAMES[now]} since 1970, and the row above in ${UNIT_NAMES[before]}: write all in one unit`,
    );
  }
  if (isBefore(row.time, last)) {
    throw problemAt(row, `${timeName} '${text}' is before the line above: sort the file by time`);
  }
}

/** A row that was put in order is not the one that was read last. */
function problemAt({ where }: TraceRow, text: string): LoadError {
  return new LoadError(where, text);
}

function secondsOf({ seconds, ns }: Timestamp): number {
  return seconds + ns / 1e9;
}
