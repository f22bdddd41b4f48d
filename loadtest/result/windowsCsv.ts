import type { RunResult } from './runResult.js';

/** What happened over time: a row a window, for spreadsheets and notebooks. */
export function windowsCsv({ windows, defaultReasons, applications }: RunResult): string {
  const reasons = Object.keys(defaultReasons) as (keyof typeof defaultReasons)[];
  const arms = applications.flatMap(({ name, models }) =>
    models.length > 1 ? models.map((model) => ({ name, model })) : [],
  );
  const heads = [
    'from_s',
    'arrivals',
    'answers',
    'defaults',
    ...reasons.map((reason) => `defaults_${reason}`),
    'batches',
    'items',
    'p50_ms',
    'p99_ms',
    ...arms.map(({ name, model }) => `share_${name}_${model}`),
  ];
  const rows = windows.map((window) => [
    window.fromSeconds,
    window.arrivals,
    window.answers,
    window.defaults,
    ...reasons.map((reason) => window.defaultReasons[reason] ?? 0),
    window.batches,
    window.items,
    window.p50Ms,
    window.p99Ms,
    ...arms.map(({ name, model }) => window.shares?.[name]?.[model] ?? null),
  ]);
  const lines = [heads.map(quoted), ...rows.map((row) => row.map(cellText))];
  return `${lines.map((line) => line.join(',')).join('\n')}\n`;
}

function cellText(value: number | null): string {
  return value === null ? '' : String(Number(value.toPrecision(6)));
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
