import { describe, expect, it } from 'vitest';
import { SmActivity } from './smActivity.js';

describe('SmActivity', () => {
  it('adds up residency over time, each SM for itself', () => {
    const activity = new SmActivity(3, 100);
    activity.advance(Int32Array.of(0, 1, 4), 110);
    activity.advance(Int32Array.of(0, 1, 0), 130);
    const { asOfNs, busyNs, blockNs } = activity.counts();
    expect(asOfNs).toBe(130);
    expect([...busyNs]).toEqual([0, 30, 10]);
    expect([...blockNs]).toEqual([0, 30, 40]);
  });

  it('counts no time twice and hands out copies', () => {
    const activity = new SmActivity(1, 0);
    activity.advance(Int32Array.of(2), 10);
    activity.advance(Int32Array.of(2), 10);
    activity.advance(Int32Array.of(2), 5);
    const before = activity.counts();
    activity.advance(Int32Array.of(1), 15);
    expect([...before.blockNs]).toEqual([20]);
    expect([...activity.counts().blockNs]).toEqual([25]);
  });
});
