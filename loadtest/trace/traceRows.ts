import type { LoadError } from './loadError.js';
import type { Arrival } from './trace.js';
import { isNumber, parseDateTime, UNIT_NAMES, type Timestamp, type TimeUnit } from './timestamp.js';

/** A time as it is written: a date, or a number whose unit is said elsewhere. */
export type WrittenTime = { readonly date: Timestamp } | { readonly number: string };

/** One recorded arrival; `where` names its line. */
export interface TraceRow extends Omit<Arrival, 'atNs'> {
  readonly time: WrittenTime;
  /** The time, for errors. */
  readonly timeText: string;
  /** So many arrivals, from that time on until the next is counted; undefined: it is one, at that time. */
  readonly count?: number;
}

/** Arrivals of a file in one format, one after the other. */
export interface TraceRows {
  /** The column or field that times come from. */
  readonly timeName: string;
  /** What its name or the format says; undefined: nothing. */
  readonly unit: TimeUnit | undefined;
  /** For how long a row with a count counts; undefined: as long as the least time between two rows. */
  readonly binSeconds?: number | undefined;
  /** undefined at the end. @throws LoadError naming the line, the column and the fix. */
  next(): TraceRow | undefined;
  progress(): number | undefined;
  /** An error about the row that was read last. */
  problem(text: string): LoadError;
  /** What to say of a file without any arrival. */
  readonly whenEmpty: string;
  close(): void;
}

/** Names of columns with arrival times, in lower case, and the unit that they say. */
export const TIME_COLUMNS: Readonly<Record<string, TimeUnit | undefined>> = {
  time_s: 's',
  t_s: 's',
  timestamp_s: 's',
  seconds: 's',
  time_ms: 'ms',
  t_ms: 'ms',
  timestamp_ms: 'ms',
  time_us: 'us',
  t_us: 'us',
  timestamp_us: 'us',
  time_ns: 'ns',
  t_ns: 'ns',
  timestamp_ns: 'ns',
  time: undefined,
  timestamp: undefined,
};

export const OTHER_COLUMNS = [
  'application',
  'context',
  'input',
  'sample',
  'label',
  'count',
  'input_hash',
  'features',
] as const;
export type OtherColumn = (typeof OTHER_COLUMNS)[number];

/** undefined: it is neither a date nor a number. */
export function writtenTime(text: string): WrittenTime | undefined {
  if (isNumber(text)) return { number: text };
  const date = parseDateTime(text);
  return date === undefined ? undefined : { date };
}

export function clip(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

export function expectedTime(unit: TimeUnit | undefined): string {
  return unit === undefined
    ? 'a number, or a date and time like 2023-11-16 18:17:03.97'
    : `a number of ${UNIT_NAMES[unit]}`;
}
