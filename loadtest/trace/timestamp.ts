/** A moment on the wall as whole seconds since 1970 and nanoseconds: one number would lose the last three digits. */
export interface Timestamp {
  readonly seconds: number;
  readonly ns: number;
}

/** Units of a time that is a number, from the coarsest on. */
export const TIME_UNITS = ['s', 'ms', 'us', 'ns'] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];

export const UNIT_NAMES: Readonly<Record<TimeUnit, string>> = {
  s: 'seconds',
  ms: 'milliseconds',
  us: 'microseconds',
  ns: 'nanoseconds',
};

export const UNITS_PER_SECOND: Readonly<Record<TimeUnit, number>> = { s: 1, ms: 1e3, us: 1e6, ns: 1e9 };

const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?\s*(?:(Z|UTC)|([+-])(\d\d):?(\d\d))?$/i;

/** `2023-11-16 18:17:03.9799600`, `2023-11-16T18:17:03Z`, `…+01:00`; without a zone it is UTC. */
export function parseDateTime(text: string): Timestamp | undefined {
  const match = DATE_TIME.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  // The calendar takes the 31st of February for the 3rd of March.
  const back = new Date(ms);
  if (back.getUTCMonth() !== month - 1 || back.getUTCDate() !== day || back.getUTCHours() !== hour)
    return undefined;
  if (minute > 59 || second > 59) return undefined;
  const away = (Number(match[10] ?? 0) * 60 + Number(match[11] ?? 0)) * 60;
  return {
    seconds: ms / 1000 + (match[9] === '-' ? away : -away),
    ns: Number((match[7] ?? '').padEnd(9, '0')),
  };
}

/** Whether a text is a finite number in decimal digits. */
export function isNumber(text: string): boolean {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text));
}

/** A number of units as a moment; digits that a double cannot hold are kept when it is whole. */
export function momentOf(number: string, unit: TimeUnit): Timestamp {
  const zeros = TIME_UNITS.indexOf(unit) * 3;
  if (zeros > 0 && /^\d{16,}$/.test(number)) {
    return { seconds: Number(number.slice(0, -zeros)), ns: Number(number.slice(-zeros).padEnd(9, '0')) };
  }
  const value = Number(number);
  const perSecond = UNITS_PER_SECOND[unit];
  const seconds = Math.floor(value / perSecond);
  return { seconds, ns: (value - seconds * perSecond) * (1e9 / perSecond) };
}

export function nsBetween(from: Timestamp, to: Timestamp): number {
  return (to.seconds - from.seconds) * 1e9 + (to.ns - from.ns);
}
