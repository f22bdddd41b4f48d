import { expect, it } from 'vitest';
import { runSoak } from './soakRun.js';

it('serves twenty seconds of mixed load and trouble with every answer right and nothing left behind', async () => {
  const report = await runSoak({
    seconds: 20,
    seed: 20170327,
    loadShare: 0.5,
    troubleEveryMs: 1500,
  });
  expect(report.violations).toEqual([]);
  expect(report.answers).toBeGreaterThan(500);
  // The first four in turn; what else fits depends on how long a deploy takes on this machine.
  expect(Object.keys(report.troubles)).toEqual(
    expect.arrayContaining(['kill', 'killDialled', 'hang', 'deploy']),
  );
}, 120_000);
