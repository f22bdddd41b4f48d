import { renderFigure } from '../../report/index.js';
import type { LatencyPoint } from './latencyLines.js';

/** Preemption latency by kernel length, a line a level and policy, medians and p99. Lengths of `withoutUs` are left out. */
export function latencyFigure(
  lines: readonly (readonly LatencyPoint[])[],
  withoutUs: number,
  seed: number,
): string {
  return renderFigure({
    title: 'Preemption latency',
    subtitle: `V100, 64 blocks of 64 threads, preempted at random times; virtual time, seed ${seed}`,
    xLabel: 'length of the kernel that runs (us)',
    panels: [
      {
        yLabel: 'until the SMs are free (us)',
        logarithmic: true,
        series: lines.flatMap((line, color) => {
          const shown = line.filter(({ kernelUs }) => kernelUs !== withoutUs);
          const name = `level ${line[0].level}, ${line[0].policy}`;
          return [
            { name: `${name}: p50`, color, points: shown.map((one) => [one.kernelUs, one.p50Us] as const) },
            {
              name: `${name}: p99`,
              color,
              dashed: true,
              points: shown.map((one) => [one.kernelUs, one.p99Us] as const),
            },
          ];
        }),
      },
    ],
  });
}
