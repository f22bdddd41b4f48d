import { describe, expect, it } from 'vitest';
import { JudgedLaunches, KEPT_VERDICTS } from './judgedLaunches.js';
import type { LaunchCommand } from './launchClasses.js';

function launch(change: Partial<LaunchCommand['args']> = {}): LaunchCommand {
  const args = {
    module: 1,
    kernel: 'add',
    grid: [4, 1, 1],
    block: [64, 1, 1],
    dynamicSharedBytes: 0,
    params: new Uint8Array([0, 16, 0, 0]),
    ...change,
  } as const;
  return { op: 'launch', args } as LaunchCommand;
}

describe('launches whose verdicts are kept', () => {
  it('are told by code, arguments and dimensions', () => {
    const kept = new JudgedLaunches(new Set());
    expect(kept.keep(launch())).toBe(false);
    expect(kept.keep(launch())).toBe(true);
    for (const change of [
      { module: 2 },
      { kernel: 'sub' },
      { grid: [4, 2, 1] },
      { grid: [1, 4, 1] },
      { block: [65, 1, 1] },
      { params: new Uint8Array([1, 16, 0, 0]) },
      { params: new Uint8Array([16, 0, 0, 0]) },
    ] as const)
      expect(kept.keep(launch(change))).toBe(false);
  });

  it('are a limited number, of which the oldest make room', () => {
    const state = new Set<number>();
    const kept = new JudgedLaunches(state);
    const numbered = (module: number): LaunchCommand => launch({ module });
    for (let module = 0; module <= KEPT_VERDICTS; module++) kept.keep(numbered(module));
    expect(state.size).toBe(KEPT_VERDICTS);
    expect(kept.keep(numbered(1))).toBe(true);
    expect(kept.keep(numbered(0))).toBe(false);
  });
});
