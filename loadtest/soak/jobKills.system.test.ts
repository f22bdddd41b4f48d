import { expect, it } from 'vitest';
import { jobUnderKills } from './jobKillRun.js';

it('a job loses no line and answers none twice where its server is killed at random moments', async () => {
  const { kills, violations } = await jobUnderKills({ seed: 3, moments: 3, lines: 10_000 });
  expect(kills).toBe(3);
  expect(violations).toEqual([]);
  // Four starts of a server, which a busy machine takes its time for.
}, 300_000);
