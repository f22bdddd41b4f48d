/** A moment on the wall as whole seconds since 1970 and nanoseconds: one number would lose the last three digits. */
export interface Timestamp {
  readonly seconds: number;
  readonly ns: number;
}

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

/** A number of seconds or milliseconds as text; undefined when it is none. */
export function parseNumber(text: string, perSecond: number): Timestamp | undefined {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return undefined;
  const value = Number(text) / perSecond;
  if (!Number.isFinite(value)) return undefined;
  const seconds = Math.floor(value);
  return { seconds, ns: (value - seconds) * 1e9 };
}

export function nsBetween(from: Timestamp, to: Timestamp): number {
  return (to.seconds - from.seconds) * 1e9 + (to.ns - from.ns);
}
