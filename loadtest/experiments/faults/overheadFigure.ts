import { renderBars } from '../../report/index.js';
import type { SchemeOverhead } from './overheadStudy.js';

export interface ModelOverheads {
  readonly size: string;
  readonly model: string;
  readonly schemes: readonly SchemeOverhead[];
}

/** What a pass of each large network takes longer than without recovery while nothing fails: a bar a scheme and place of saving. */
export function overheadFigure(overheads: readonly ModelOverheads[], seed: number): string {
  return renderBars({
    title: 'Recovery from faults while nothing fails',
    subtitle: `All memory saved (restore) or what is not proved (verdicts), at the host or on the GPU; H200, virtual time, seed ${seed}`,
    yLabel: 'longer than without recovery (%)',
    groups: overheads
      .filter(({ size }) => size === 'large')
      .map(({ model, schemes }) => ({
        name: model,
        bars: schemes.map(({ scheme, saveTo, overhead }, color) => ({
          name: [scheme === 'restore' ? 'all' : 'part', saveTo === 'host' ? 'host' : 'GPU'],
          value: 100 * overhead,
          text: (100 * overhead).toFixed(overhead < 0.1 ? 1 : 0),
          color,
        })),
      })),
  });
}
