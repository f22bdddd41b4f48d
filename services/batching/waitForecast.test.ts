import { expect, it } from 'vitest';
import { MS, ReplicaParts, TestEvaluation } from './tests/replicaParts.js';

/** Batches of 4 took 4 ms so often that they are expected to. */
function measured(): ReplicaParts {
  const parts = new ReplicaParts();
  for (let at = 0; at < 20; at++) {
    for (let item = 0; item < 4; item++) parts.take(parts.clock.nowNs() + 99 * MS);
    const sentNs = parts.clock.nowNs();
    parts.clock.run(sentNs);
    parts.clock.advanceTo(sentNs + 4 * MS);
    const results = Array.from({ length: 4 }, (_, id) => ({ id, ok: true, output: '' }) as const);
    parts.answer(at + 1, results);
  }
  return parts;
}

it('is hopeful while nothing is known, and of an idle replica', () => {
  const fresh = new ReplicaParts();
  fresh.take(MS);
  expect(fresh.forecast).toMatchObject({
    known: false,
    batchNs: 0,
    itemNs: undefined,
    fullItemNs: undefined,
  });
  expect(fresh.forecast.lateByNs(new TestEvaluation(0), 0)).toBe(0);
  const { clock, forecast } = measured();
  expect(forecast.lateByNs(new TestEvaluation(0), clock.nowNs())).toBe(0);
});

it('says by how much one would be late behind what is in flight and what waits, batch by batch', () => {
  const parts = measured();
  const nowNs = parts.clock.nowNs();
  expect(parts.forecast.batchNs).toBe(4 * MS);
  expect(parts.forecast.fullItemNs).toBeCloseTo(MS, -2);
  for (let at = 0; at < 8 + 4; at++) parts.take(nowNs + 99 * MS);
  parts.clock.run(nowNs);
  expect(parts.waiting.size).toBe(4);
  // Two batches are in flight, the next takes the four that wait, and its own is the one after that.
  expect(parts.forecast.lateByNs(new TestEvaluation(nowNs + 99 * MS), nowNs)).toBeCloseTo(-83 * MS, -2);
  // One that is due before those who wait has only what is in flight before it.
  expect(parts.forecast.lateByNs(new TestEvaluation(nowNs + 11 * MS), nowNs)).toBeCloseTo(MS, -2);
});

it('compares at one size whatever the sizes of batches were', () => {
  const served = (sizes: readonly number[]): ReplicaParts => {
    const parts = new ReplicaParts();
    sizes.forEach((size, at) => {
      for (let item = 0; item < size; item++) parts.take(parts.clock.nowNs() + 999 * MS);
      const sentNs = parts.clock.nowNs();
      parts.clock.run(sentNs);
      parts.clock.advanceTo(sentNs + 5 * MS + (size * MS) / 4);
      parts.answer(
        at + 1,
        Array.from({ length: size }, (_, id) => ({ id, ok: true, output: '' }) as const),
      );
    });
    return parts;
  };
  const small = served([1, 2, 1, 2, 1, 2, 1, 2, 1, 2]).forecast;
  const large = served([3, 4, 3, 4, 3, 4, 3, 4, 3, 4]).forecast;
  expect(small.meanSize).toBeLessThan(2);
  expect(small.itemNs ?? 0).toBeGreaterThan(1.5 * (large.itemNs ?? 0));
  expect(small.itemNsAt(4)).toBeCloseTo(1.5 * MS, -3);
  expect(large.itemNsAt(4)).toBeCloseTo(1.5 * MS, -3);
});
