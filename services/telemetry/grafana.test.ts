import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describedMetrics } from './documentation.js';

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

describe('deploy/grafana/gpus.json', () => {
  const board = JSON.parse(readFileSync('deploy/grafana/gpus.json', 'utf8')) as Dashboard;
  const described = new Map(
    describedMetrics().flatMap(({ name, type, labels }) =>
      (type === 'histogram' ? [`${name}_sum`, `${name}_count`] : [name]).map((series) => [series, labels]),
    ),
  );

  it('asks for metrics and labels that there are', () => {
    const panels = board.panels.filter(({ type }) => type !== 'row');
    expect(panels.length).toBeGreaterThan(10);
    for (const { targets = [] } of panels) {
      expect(targets.length).toBeGreaterThan(0);
      for (const { expr, legendFormat } of targets) {
        const used = [...expr.matchAll(/\b(?:windjammer|DCGM)_\w+/g)].map(([name]) => name);
        expect(used.length).toBeGreaterThan(0);
        for (const name of used) {
          const labels = described.get(name);
          expect(labels, name).toBeDefined();
          for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(labels).toContain(label);
        }
      }
    }
    for (const { definition = '' } of board.templating.list) {
      for (const [name] of definition.matchAll(/DCGM_\w+/g)) expect([...described.keys()]).toContain(name);
    }
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
  });
});
