import { CalibrationError } from './calibrationError.js';
import type { CalibrationReport } from './calibrationReport.js';
import { percent } from '../../text/index.js';

/** What `calibrate` left of a set of launches. */
export interface SetErrors {
  /** What the table calls it. */
  readonly set: string;
  readonly report: CalibrationReport;
}

const BEGIN = '<!-- errors: written by loadtest/experiments/errorsToday.ts -->';
const END = '<!-- /errors -->';

/** A table of Markdown, one row a set. */
export function errorTable(sets: readonly SetErrors[]): string {
  const rows = sets.map(({ set, report }) => {
    const { launches, kernels, meanOfKernels, medianError, withinQuarter, worst } = report;
    const cells = [
      `${launches.length} launches of ${set} (${kernels.length} kernels)`,
      percent(meanOfKernels),
      percent(medianError),
      percent(withinQuarter),
      `${worst.error < 0 ? '-' : '+'}${Math.abs(100 * worst.error).toFixed(0)} % (*${worst.name}*)`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| | mean | median launch | within 25 % | worst |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/**
 * A page with its table of errors written anew.
 * @throws CalibrationError `noTable` where the page has no place for it
 */
export function withErrorTable(page: string, sets: readonly SetErrors[]): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) {
    throw new CalibrationError('noTable', `the page has no '${BEGIN}' with '${END}' behind it`);
  }
  return `${page.slice(0, from)}${BEGIN}\n${errorTable(sets)}\n${page.slice(to)}`;
}
