import { describe, expect, it } from 'vitest';
import { MS, ReplicaParts } from './tests/replicaParts.js';

const ok = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ id, ok: true, output: `${id}` }) as const);

describe('departures from one replica', () => {
  it('let what arrives at one instant travel together, by one event', () => {
    const parts = new ReplicaParts();
    for (let at = 0; at < 6; at++) parts.take(MS);
    expect(parts.frames).toEqual([]);
    parts.clock.run(0);
    expect(parts.batches).toEqual([
      [4, undefined],
      [2, undefined],
    ]);
    expect(parts.told).toEqual(['dispatch']);
  });

  it('cost no event while the container takes nothing: only what may expire is looked after', () => {
    const parts = new ReplicaParts({ credits: 0 });
    const late = parts.take(MS);
    parts.clock.run();
    expect(parts.told).toEqual(['expire']);
    expect(late.outcomes).toHaveLength(1);
  });

  it('keep the last credit for the highest class that may come, where something is in flight', () => {
    const parts = new ReplicaParts();
    parts.departures.setHighestClass('critical');
    for (let at = 0; at < 8; at++) parts.take(9 * MS, 'bestEffort');
    parts.clock.run(0);
    expect(parts.batches).toEqual([[4, 'bestEffort']]);
    parts.take(9 * MS, 'critical');
    parts.clock.run(0);
    expect(parts.batches.at(-1)).toEqual([1, 'critical']);
    parts.answer(1, ok(4));
    expect(parts.batches).toHaveLength(2);
    parts.answer(2, ok(1));
    expect(parts.batches.at(-1)).toEqual([4, 'bestEffort']);
    parts.departures.setHighestClass('bestEffort');
    for (let at = 0; at < 2; at++) parts.take(9 * MS, 'bestEffort');
    parts.clock.run(0);
    expect(parts.batches.at(-1)).toEqual([2, 'bestEffort']);
  });

  it('wait for company as long as they may, and no longer than it takes to be full', () => {
    const parts = new ReplicaParts({ delayNs: 2 * MS });
    parts.take(90 * MS);
    parts.clock.run(MS);
    expect(parts.frames).toEqual([]);
    parts.clock.run(2 * MS);
    expect(parts.batches).toEqual([[1, undefined]]);
    for (let at = 0; at < 4; at++) parts.take(90 * MS);
    parts.clock.run(2 * MS);
    expect(parts.batches.at(-1)).toEqual([4, undefined]);
  });

  it('stop where the channel does, whoever still waits', () => {
    const parts = new ReplicaParts({ credits: 3, limit: 1 });
    parts.broken = new Error('no wire');
    for (let at = 0; at < 3; at++) parts.take(MS);
    parts.clock.run(0);
    expect(parts.batches).toHaveLength(1);
    expect(parts.waiting.size).toBe(2);
    expect(parts.told).toEqual([
      'dispatch',
      'lost: sending failed: no wire',
      'closed: sending failed: no wire',
    ]);
  });
});
