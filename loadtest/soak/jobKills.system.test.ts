import { expect, it } from 'vitest';
import { jobUnderKills } from './jobKillRun.js';

it('a job loses no line and answers none twice where its server is killed at random moments', async () => {
  const result = await jobUnderKills({ seed: 3, moments: 3, lines: 10_000 });
  expect(result).toMatchObject({ jobs: 1, kills: { server: 3 }, lost: 0, doubled: 0, violations: [] });
  // Four starts of a server, which a busy machine takes its time for.
}, 300_000);

it('a shared job loses no line and answers none twice where frontends and Redis are killed', async () => {
  const result = await jobUnderKills({ seed: 5, moments: 4, lines: 10_000, isShared: true });
  expect(result).toMatchObject({ jobs: 1, lines: 10_000, lost: 0, doubled: 0, violations: [] });
}, 300_000);
