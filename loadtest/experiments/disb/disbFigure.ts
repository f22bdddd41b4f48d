import { PALETTE } from '../../../simulator/charts/index.js';
import { renderBars } from '../../report/index.js';
import type { WorkloadResult } from './study.js';

/** Mean real-time latency by workload, a bar a policy. */
export function disbFigure(results: readonly WorkloadResult[], subtitle: string): string {
  const workloads = [...new Set(results.map(({ workload }) => workload))];
  const policies = [...new Set(results.map(({ policy }) => policy))];
  return renderBars({
    title: 'DISB: latency of real-time requests',
    subtitle: `mean over alone, by policy in this order: ${policies.slice(1).join(', ')}; ${subtitle}`,
    yLabel: 'real-time latency over alone',
    groups: workloads.map((name) => {
      const alone = results.find(({ workload, policy }) => workload === name && policy === 'alone');
      return {
        name,
        bars: results
          .filter(({ workload, policy }) => workload === name && policy !== 'alone')
          .map(({ policy, meanMs }, index) => ({
            name: [],
            value: Math.min(MOST_SHOWN, meanMs / (alone?.meanMs ?? NaN)),
            text:
              policy === 'fifo' || policy === 'killRestart'
                ? (meanMs / (alone?.meanMs ?? NaN)).toFixed(2)
                : '',
            color: index % PALETTE.length,
          })),
      };
    }),
  });
}

/** Bars end here; what they stand for is in the table. */
const MOST_SHOWN = 12;
