import { describe, expect, it } from 'vitest';
import { profileNamed } from '../profiles/index.js';
import { blockRates, capacities, type BlockWork, type RatedGroup } from './index.js';
import { DEVICE_RESOURCES, SM_RESOURCES } from './blockWork.js';

const h200 = profileNamed('h200');
const limits = capacities(h200, h200.clockHz);

function work(slots: number, chainCycles: number, device: Partial<Record<string, number>> = {}): BlockWork {
  return {
    sm: SM_RESOURCES.map((name) => (name === 'issue' ? slots : 0)),
    device: DEVICE_RESOURCES.map((name) => device[name] ?? 0),
    chainCycles,
    chainFixedNs: 0,
    warps: 8,
  };
}

/** Eight warps of independent, and of dependent instructions. */
const INDEPENDENT = work(8 * 5000, 10_000);
const DEPENDENT = work(8 * 5000, 22_500);

function rates(...groups: RatedGroup[]): number[] {
  const members = groups.map((_, index) => index);
  const { overlapExponent } = h200.timing;
  return blockRates(groups, [{ members }], limits, overlapExponent, h200.schedulersPerSm)[0];
}

function of(launch: number, block: BlockWork, perSm: number): RatedGroup {
  return { launch, work: block, sms: 1, perSm };
}

describe('blocks of several launches on one SM', () => {
  it('share it fairly when they are of one launch', () => {
    const [first, second] = rates(of(1, INDEPENDENT, 4), of(1, INDEPENDENT, 4));
    expect(first).toBe(second);
    expect(first).toBe(rates(of(1, INDEPENDENT, 8))[0]);
  });

  it('give the older launch its slots first, and never more than there are', () => {
    const [older, younger] = rates(of(1, INDEPENDENT, 4), of(2, INDEPENDENT, 4));
    expect(older / rates(of(1, INDEPENDENT, 4))[0]).toBeGreaterThan(0.97);
    expect(younger).toBeLessThan(0.15 * older);
    expect((older + younger) * 4 * INDEPENDENT.sm[0]).toBeLessThanOrEqual(limits.sm[0]);
  });

  it('let the younger one have nearly all where the older one has to wait for itself', () => {
    const alone = rates(of(1, DEPENDENT, 1))[0];
    const [older] = rates(of(1, DEPENDENT, 1), of(2, INDEPENDENT, 7));
    expect(older / alone).toBeGreaterThan(0.15);
    expect(older / alone).toBeLessThan(0.4);
    const [, young] = rates(of(1, INDEPENDENT, 7), of(2, DEPENDENT, 1));
    expect(young / alone).toBeLessThan(0.15);
  });

  it('do not delay blocks that wait for memory', () => {
    const reading = work(8 * 500, 50_000, { dramBytes: 1e5 });
    const [older] = rates(of(1, reading, 4), of(2, INDEPENDENT, 4));
    expect(older / rates(of(1, reading, 4))[0]).toBeGreaterThan(0.9);
  });

  it('share fairly what the whole card has', () => {
    const reading = work(100, 1000, { dramBytes: 1e6 });
    const [older, younger] = rates(of(1, reading, 1), of(2, reading, 1));
    expect(younger / older).toBeGreaterThan(0.95);
  });
});
