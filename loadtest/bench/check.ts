/** A figure and what it must not fall short of. */
export interface Check {
  readonly what: string;
  readonly figure: number;
  readonly bound: 'atLeast' | 'atMost';
  readonly floor: number;
  readonly unit: string;
  /** Answers that were no answers; a figure with such does not hold. */
  readonly errors: number;
}

export function holds({ figure, bound, floor, errors }: Check): boolean {
  // NaN holds nothing.
  return errors === 0 && (bound === 'atLeast' ? figure >= floor : figure <= floor);
}

export function checkTable(checks: readonly Check[]): string {
  const rows = checks.map((check) => [
    check.what,
    `${text(check.figure)} ${check.unit}`,
    `${check.bound === 'atLeast' ? '>=' : '<='} ${text(check.floor)} ${check.unit}`,
    holds(check) ? 'holds' : check.errors > 0 ? `${check.errors} ERRORS` : 'DOES NOT HOLD',
  ]);
  const width = (column: number) => Math.max(...rows.map((row) => row[column].length));
  return rows
    .map(
      ([what, figure, floor, verdict]) =>
        `  ${what.padEnd(width(0))}  ${figure.padStart(width(1))}  ${floor.padStart(width(2))}  ${verdict}\n`,
    )
    .join('');
}

function text(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
}
