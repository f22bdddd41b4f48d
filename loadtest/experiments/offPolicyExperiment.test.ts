import { expect, it } from 'vitest';
import { coverageOf, LOGGERS, TARGETS } from './offPolicyExperiment.js';

const [anyArm, greedy] = LOGGERS;
const size = { seed: 20170327, logs: 150, queries: 600 };

// Of 150 logs the share that is covered strays by 1.8 points itself.
it.each(TARGETS.map((target) => [target.name, target] as const))(
  'has the true loss of %s within its intervals, nineteen times of twenty',
  (_name, target) => {
    const rows = coverageOf(anyArm, target, size);
    expect(rows.length).toBeGreaterThan(0);
    for (const { covered, mean, truth, reach, logs } of rows) {
      expect(logs).toBeGreaterThan(100);
      expect(covered).toBeGreaterThan(0.9);
      expect(reach).toBeLessThan(0.15);
      // No bias beyond what a mean of so many estimates strays.
      expect(Math.abs(mean - truth)).toBeLessThan((2 * reach) / Math.sqrt(logs));
    }
  },
);

it('has shorter intervals where a model of losses helps, and refuses what is too little', () => {
  const [ips, , , robust] = coverageOf(greedy, TARGETS[0], size);
  expect(ips.estimator).toBe('ips');
  expect(robust.estimator).toBe('doublyRobust');
  expect(robust.reach).toBeLessThan(ips.reach);
  expect(coverageOf(greedy, TARGETS[3], { ...size, logs: 3, queries: 100 })).toEqual([]);
});
