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
  expect(Object.keys(report.troubles).sort()).toEqual(['deploy', 'hang', 'kill', 'rollBack', 'scale']);
}, 120_000);
