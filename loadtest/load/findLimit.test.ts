import { describe, expect, it } from 'vitest';
import type { RunResult } from '../result/index.js';
import { behindEnding, INTERRUPTED, lateEnding } from './endings.js';
import { findLimit, type FoundLimit } from './findLimit.js';

/** Of a server that keeps its objective up to 100 queries a second. */
function resultOf(perSecond: number, endedEarly: string | null = null): RunResult {
  const inTime = perSecond <= 100 ? 1000 : 10;
  const application = { name: 'a', objectiveMs: 10, arrivals: 1000, inTime };
  return { endedEarly, applications: [application] } as unknown as RunResult;
}

function search(run: (perSecond: number, nth: number) => RunResult): Promise<FoundLimit> {
  let runs = 0;
  return findLimit({
    ...{ low: 10, high: 1000, percentile: 99 },
    run: async (perSecond) => Promise.resolve(run(perSecond, ++runs)),
    onTried: () => undefined,
  });
}

const bestOf = ({ tried }: FoundLimit) =>
  Math.max(...tried.filter(({ isKept }) => isKept).map(({ perSecond }) => perSecond));

describe('the search for a limit', () => {
  it('finds it', async () => {
    const found = await search((perSecond) => resultOf(perSecond));
    expect(bestOf(found)).toBeLessThanOrEqual(100);
    expect(bestOf(found)).toBeGreaterThan(95);
    expect(found).not.toHaveProperty('brokenOff');
  });

  it.each([lateEnding(5, 1), behindEnding(50_001)])('takes for too much what ends so: %s', async (why) => {
    const found = await search((perSecond) => resultOf(perSecond, perSecond > 50 ? why : null));
    expect(bestOf(found)).toBeGreaterThan(47);
    expect(found).not.toHaveProperty('brokenOff');
  });

  it('keeps what it found where the server goes, or somebody stops it', async () => {
    for (const why of [INTERRUPTED, 'the server has gone (connect ECONNREFUSED)']) {
      const found = await search((perSecond, nth) => resultOf(perSecond, nth === 4 ? why : null));
      expect(found.tried).toHaveLength(3);
      expect(found.brokenOff).toMatchObject({ why, result: { endedEarly: why } });
      expect(bestOf(found)).toBe(100);
    }
  });

  it('keeps it where a run cannot begin, and fails where none could', async () => {
    const gone = (from: number) => (perSecond: number, nth: number) => {
      if (nth >= from) throw new Error('no server');
      return resultOf(perSecond);
    };
    expect(await search(gone(3))).toMatchObject({
      tried: [{ isKept: true }, {}],
      brokenOff: { why: 'no server' },
    });
    await expect(search(gone(1))).rejects.toThrow('no server');
  });
});
