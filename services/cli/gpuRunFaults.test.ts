import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runGpuCommand } from './tests/gpuCommand.js';

const SPEC = resolve(import.meta.dirname, '../../docs/examples/columns/columns.json');
const run = (...args: readonly string[]): Promise<string> => runGpuCommand('run', SPEC, ...args);

describe('faults of windjammer gpu run', () => {
  it('are recovered from and reported', async () => {
    const clean = JSON.parse(await run()) as { buffers: object };
    const struck = JSON.parse(await run('--faults', '6,0.5', '--recovery', 'verdicts')) as typeof clean;
    expect(struck.buffers).toEqual(clean.buffers);
    expect(struck).toMatchObject({ faults: { injected: 1, reexecuted: 1, savedBytes: 0 } });
    expect(clean).not.toHaveProperty('faults');
  });

  it('end the launch where nothing recovers', async () => {
    expect(await run('--faults', '1,1')).toMatch(/a transient fault struck block .* recovery is 'none'/);
  });

  it.each([
    [['--faults', '1'], "--faults: '1'; give a seed and a probability, such as 1,0.01"],
    [['--faults', 'a,b'], "--faults: 'a,b'; give a seed and a probability, such as 1,0.01"],
    [['--faults', '1,2'], '--faults: rate: 2 is not a probability, 0 to 1'],
    [['--faults', '0.5,1'], '--faults: seed: 0.5 is not a whole number'],
    [['--recovery', 'magic'], "--recovery: 'magic'; there are: none, restore, klevel, verdicts"],
    [['--save-to', 'disk'], "argument 'disk' is invalid. Allowed choices are device, host."],
  ])('%j is refused', async (args, message) => {
    expect(await run(...args)).toContain(message);
  });
});
