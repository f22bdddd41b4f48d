import { expect, it } from 'vitest';
import { jobUnderKills } from './jobKillRun.js';

it('a job loses no line and answers none twice where its server is killed at random moments', async () => {
  const result = await jobUnderKills({ seed: 3, moments: 3, lines: 10_000 });
  // A job that is done before it is killed so often leaves the rest to the next one.
  expect(result).toMatchObject({ kills: { server: 3 }, lost: 0, doubled: 0, violations: [] });
  expect(result.lines).toBeGreaterThanOrEqual(10_000);
  // Four starts of a server, which a busy machine takes its time for.
}, 300_000);

it('a shared job loses no line and answers none twice where frontends and Redis are killed', async () => {
  const result = await jobUnderKills({ seed: 5, moments: 4, lines: 10_000, isShared: true });
  expect(result).toMatchObject({ lost: 0, doubled: 0, violations: [] });
  expect(Object.values(result.kills).reduce((sum, count) => sum + count, 0)).toBe(4);
  expect(result.lines).toBeGreaterThanOrEqual(10_000);
}, 300_000);
