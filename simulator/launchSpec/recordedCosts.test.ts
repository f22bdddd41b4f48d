import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseCosts, type CostDocument } from '../gpu/index.js';
import { LaunchSpecError } from './launchSpecError.js';
import { runLaunchSpec, runLaunchSpecFile } from './runLaunchSpec.js';
import { readSpec } from './specFiles.js';

const REFERENCE = new URL('../gpu/reference/', import.meta.url).pathname;
const LAUNCHES = `${REFERENCE}launches/`;

function recorded(path: string): { costs: CostDocument; functional: ReturnType<typeof runLaunchSpecFile> } {
  let costs: CostDocument | undefined;
  const functional = runLaunchSpecFile(path, {
    recordCosts: (document) => {
      costs = parseCosts(JSON.stringify(document), 'costs.json');
    },
  });
  if (costs === undefined) throw new Error('nothing was recorded');
  return { costs, functional };
}

/** Of each kernel its smallest launch. */
function smallest(): string[] {
  const kernels = new Map<string, string>();
  const size = (path: string): number => {
    const { grid } = JSON.parse(readFileSync(path, 'utf8')) as { grid: [number, number, number] };
    return grid[0] * grid[1] * grid[2];
  };
  for (const name of readdirSync(LAUNCHES).sort()) {
    const path = `${LAUNCHES}${name}`;
    const { kernel } = JSON.parse(readFileSync(path, 'utf8')) as { kernel: string };
    const known = kernels.get(kernel);
    if (known === undefined || size(path) < size(known)) kernels.set(kernel, path);
  }
  return [...kernels.values()];
}

describe('costs that a functional run recorded', () => {
  it.each(smallest())('give the same times without running anything: %s', (path) => {
    const { costs, functional } = recorded(path);
    const timed = runLaunchSpecFile(path, { costs });
    expect(timed).toEqual({ ...functional, buffers: [], executorSeconds: 0 });
  });

  it('stand for another grid of the same kernel', () => {
    const [path] = smallest();
    const { costs } = recorded(path);
    const spec = readSpec(path) as { grid: [number, number, number] };
    const larger = { ...spec, grid: [spec.grid[0] * 64, spec.grid[1], spec.grid[2]] };
    const one = runLaunchSpecFile(path, { costs });
    const many = runLaunchSpec(larger, LAUNCHES, { costs });
    expect(many.durationUs).toBeGreaterThan(one.durationUs);
    expect(many.ptxWarpInstructions / one.ptxWarpInstructions).toBeCloseTo(64, 0);
  });

  it('do not stand for another block or module', () => {
    const [path] = smallest();
    const { costs } = recorded(path);
    const spec = readSpec(path) as { block: [number, number, number]; kernel: string };
    const other = { ...spec, block: [32, 1, 1] };
    expect(() => runLaunchSpec(other, LAUNCHES, { costs })).toThrow(LaunchSpecError);
    expect(() => runLaunchSpec(other, LAUNCHES, { costs })).toThrow(
      new RegExp(`no cost of '${spec.kernel}' with blocks of \\[32,1,1\\].*recorded are blocks of`),
    );
    const [kernel] = costs.kernels;
    const renamed = { ...costs, kernels: [{ ...kernel, module: '0'.repeat(64) }] };
    expect(() => runLaunchSpecFile(path, { costs: renamed })).toThrow(/nothing of it was recorded/);
  });
});
