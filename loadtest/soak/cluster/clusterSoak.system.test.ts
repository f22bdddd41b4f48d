import { expect, it } from 'vitest';
import { runClusterSoak } from './clusterSoakRun.js';

it('three frontends, three nodes and a Redis serve a minute of kills and cuts with every answer right, all feedback learned once, and nothing left behind', async () => {
  const report = await runClusterSoak({
    seconds: 45,
    seed: 20170327,
    perSecond: 150,
    feedbackLanes: 4,
    troubleEveryMs: 2500,
  });
  expect(report.violations).toEqual([]);
  expect(report.answers).toBeGreaterThan(500);
  expect(report.feedback.keyed.acknowledged).toBeGreaterThan(20);
  // What fits beside it depends on how long a process takes to start on this machine.
  expect(Object.keys(report.troubles)).toEqual(
    expect.arrayContaining(['killFrontend', 'cutNode', 'deploy', 'killNode', 'killRedis']),
  );
}, 400_000);
