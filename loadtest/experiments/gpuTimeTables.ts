import type { LeftOut, Sensitivity } from './figureSearch.js';
import { percent } from '../../simulator/text/index.js';

export interface GpuTimeResult {
  readonly launches: number;
  readonly meanOfKernels: number;
  readonly sensitivities: readonly Sensitivity[];
  readonly leftOut: readonly LeftOut[];
}

/** The result as tables in Markdown. */
export function gpuTimeTables({ launches, meanOfKernels, sensitivities, leftOut }: GpuTimeResult): string {
  const moved = sensitivities.map(
    ({ name, value, lower, higher }) => `| \`${name}\` | ${value} | ${points(lower)} | ${points(higher)} |`,
  );
  const lines = [
    `Mean error over kernels, ${launches} launches: ${percent(meanOfKernels)}.`,
    '',
    '| fitted figure | value | a fifth lower, points of mean error | a fifth higher |',
    '| --- | --- | --- | --- |',
    ...moved,
  ];
  if (leftOut.length === 0) return `${lines.join('\n')}\n`;
  const mean = leftOut.reduce((sum, { withoutIt }) => sum + withoutIt, 0) / leftOut.length;
  const kernels = leftOut.map(
    (left) =>
      `| \`${left.kernel}\` | ${percent(left.withIt)} | ${percent(left.withoutIt)} | ${factors(left.moved)} |`,
  );
  return [
    ...lines,
    '',
    `Each kernel left out of the fit, mean error on it: ${percent(mean)}.`,
    '',
    '| kernel | error with it | fitted without it | figures that moved, by factor |',
    '| --- | --- | --- | --- |',
    ...kernels,
    '',
  ].join('\n');
}

function factors(moved: LeftOut['moved']): string {
  return Object.entries(moved)
    .map(([name, factor]) => `${name} ${factor.toFixed(2)}`)
    .join(', ');
}

function points(share: number): string {
  return `${share < 0 ? '-' : '+'}${Math.abs(100 * share).toFixed(2)}`;
}
