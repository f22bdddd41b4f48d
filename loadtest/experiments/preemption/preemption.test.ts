import { describe, expect, it } from 'vitest';
import { profileNamed } from '../../../simulator/gpu/index.js';
import { latencyPoint } from './latencyLines.js';
import { criticalQuery, languageModelJob } from './languageModelJob.js';
import { functionalStudy } from './functionalStudy.js';
import { preemptEachLaunch } from './eachLaunch.js';
import { SCHEMES } from './schemes.js';
import { sharedStudy } from './sharedStudy.js';

const CARD = profileNamed('v100');

describe('preemption latency by kernel length', () => {
  const medians = (level: 1 | 2 | 3, policy: string) =>
    [100, 1000].map((us) => latencyPoint(CARD, level, policy, us, 20, 1).p50Us / us);

  it('is about ten kernels where those in flight are waited for', () => {
    for (const kernels of medians(1, 'fifo')) expect(Math.abs(kernels - 9.5)).toBeLessThan(1);
  });

  it('is less than one kernel where only the running one is', () => {
    for (const kernels of medians(2, 'priority')) {
      expect(kernels).toBeGreaterThan(0.1);
      expect(kernels).toBeLessThan(1);
    }
  });

  it('does not depend on the length where the running one is interrupted', () => {
    for (const policy of ['killRestart', 'contextSwitch']) {
      const [short, long] = medians(3, policy);
      expect(long * 1000).toBeCloseTo(short * 100, 3);
    }
  });
});

describe('a best-effort job beside critical queries', () => {
  const settings = { kernels: 50, idempotentShare: 0.663, wholeKernels: 8, seed: 1 };
  const job = languageModelJob(CARD, { ...settings, idempotentAre: 'largest' });
  const study = (policy: string, launches = 400) =>
    sharedStudy(CARD, policy, job, criticalQuery(CARD), { launches, queriesPerSecond: 250, seed: 1 });

  it('has contexts as the paper tells them', () => {
    const meanNs = job.reduce((sum, { share, saveNs }) => sum + share * saveNs, 0);
    const proved = job.reduce((sum, { share, idempotent }) => sum + share * idempotent, 0);
    expect(meanNs).toBeCloseTo(64_300, -2);
    expect(proved).toBeCloseTo(0.663, 6);
    expect(Math.min(...job.map(({ saveNs }) => saveNs))).toBeLessThan(5_000);
    for (const { saveNs } of job) expect(saveNs).toBeLessThanOrEqual(98_000);
  });

  it('is preempted sooner by kills than by switches, and everything ends', () => {
    const [kill, save, fifo] = ['killRestart', 'contextSwitch', 'fifo'].map((policy) => study(policy));
    for (const one of [kill, save, fifo]) expect(one.unfinished).toBe(0);
    expect(save.meanPreemptionUs).toBeCloseTo(save.expectedPreemptionUs, 0);
    expect(kill.meanPreemptionUs).toBeLessThan(0.4 * save.meanPreemptionUs);
    expect(kill.launchesPerSecond).toBeGreaterThan(0.6 * fifo.launchesPerSecond);
    expect(kill.p50AddedUs).toBeLessThan(save.p50AddedUs);
  });

  it('costs the sum of what its launches cost, each preempted once, and less the more is known of them', () => {
    const settings = { launches: 400, seed: 1 };
    const results = SCHEMES.map((scheme) => preemptEachLaunch(CARD, scheme, job, settings));
    for (const { preemptions, meanUs, expectedUs } of results) {
      expect(preemptions).toBeGreaterThan(380);
      expect(meanUs / expectedUs).toBeGreaterThan(0.93);
      expect(meanUs / expectedUs).toBeLessThan(1.07);
    }
    for (const of of [results.slice(0, 3), results.slice(3)]) {
      const [nothing, kernels, launches] = of.map(({ meanUs }) => meanUs);
      expect(kernels / nothing).toBeGreaterThan(0.9);
      expect(launches / nothing).toBeLessThan(0.3);
    }
  });

  it('is the same study twice', () => {
    expect(study('killRestart', 100)).toEqual(study('killRestart', 100));
  });
});

describe('requests whose kernels run', () => {
  it('leave the same bytes where their launches were killed', () => {
    const { totals, preempted, identical } = functionalStudy(CARD, 'killRestart', {
      size: { layers: 1, width: 256, vocabulary: 1024, tokens: 2 },
      requests: 1,
      gapNs: 40_000,
      seed: 1,
    });
    expect(totals.kills).toBeGreaterThan(0);
    expect([preempted, identical]).toEqual([1, 1]);
  }, 120_000);
});
