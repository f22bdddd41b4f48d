import { expect, it } from 'vitest';
import { RecentRoundTrips } from './recentRoundTrips.js';

it('expects the second longest of the last twelve, so that one pause changes nothing', () => {
  const trips = new RecentRoundTrips();
  const expected = [10, 12, 11, 500, ...new Array<number>(12).fill(10)].map((ns) => {
    trips.record(ns);
    return trips.expectedNs;
  });
  expect(expected.slice(0, 5)).toEqual([0, 10, 11, 12, 12]);
  expect(expected.slice(-4)).toEqual([12, 11, 10, 10]);
});
