import type { Figure } from './figures.js';

const UNITS = ['', ' k', ' M', ' G', ' T', ' P'] as const;

/** A count for people: whole up to six digits, then four digits and a unit. */
export function countText(value: number): string {
  if (value < 999_999.5) return Math.round(value).toLocaleString('en-US');
  let unit = 0;
  let rest = value;
  while (rest >= 999.95 && unit < UNITS.length - 1) {
    rest /= 1000;
    unit += 1;
  }
  return `${rest.toPrecision(4)}${UNITS[unit]}`;
}

export function ratioText(value: number): string {
  return value.toFixed(value >= 100 ? 1 : 2);
}

export function shareText(value: number): string {
  return `${(value * 100).toFixed(1)}%`;
}

export function figureText({ form }: Figure, value: number | undefined): string {
  if (value === undefined) return '';
  if (form === 'count') return countText(value);
  return form === 'ratio' ? ratioText(value) : shareText(value);
}

/** Simulated microseconds, as nvprof gives times. */
export function timeText(us: number): string {
  if (us >= 1e6) return `${(us / 1e6).toPrecision(4)} s`;
  return us >= 1e3 ? `${(us / 1e3).toPrecision(4)} ms` : `${us.toPrecision(4)} us`;
}
