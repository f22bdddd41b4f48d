import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClockError, VirtualClock, type EventPayload } from './index.js';

/** Records what ran, and when. */
function recorder(clock: VirtualClock, port: string) {
  const seen: [string, EventPayload, number][] = [];
  clock.attach(port, { onEvent: (kind, payload, nowNs) => seen.push([kind, payload, nowNs]) });
  return seen;
}

describe('VirtualClock', () => {
  it('runs events by time, equal times by order of scheduling', () => {
    const clock = new VirtualClock();
    const seen = recorder(clock, 'a');
    clock.schedule('a', 20, 'late');
    clock.schedule('a', 10, 'first');
    clock.schedule('a', 10, 'second');
    clock.run();
    expect(seen).toEqual([
      ['first', undefined, 10],
      ['second', undefined, 10],
      ['late', undefined, 20],
    ]);
  });

  it('runs any schedule in the order of a stable sort, cancelled events left out', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ timeNs: fc.nat(50), cancel: fc.boolean() }), { maxLength: 300 }),
        (events) => {
          const clock = new VirtualClock();
          const seen = recorder(clock, 'a');
          const orders = events.map((event, i) => clock.schedule('a', event.timeNs, String(i)));
          events.forEach((event, i) => event.cancel && clock.cancel(orders[i]));
          clock.run();
          const expected = events
            .map((event, i) => ({ ...event, i }))
            .filter((event) => !event.cancel)
            .sort((a, b) => a.timeNs - b.timeNs || a.i - b.i)
            .map((event) => String(event.i));
          expect(seen.map(([kind]) => kind)).toEqual(expected);
        },
      ),
      { seed: 1, numRuns: 200 },
    );
  });

  it('runs an event of the past at the present time', () => {
    const clock = new VirtualClock(100);
    const seen = recorder(clock, 'a');
    clock.schedule('a', 5, 'overdue');
    clock.run();
    expect(seen).toEqual([['overdue', undefined, 100]]);
  });

  it('stops at the time asked for and leaves later events pending', () => {
    const clock = new VirtualClock();
    const seen = recorder(clock, 'a');
    clock.schedule('a', 10, 'in');
    clock.schedule('a', 11, 'out');
    clock.run(10);
    expect(seen.map(([kind]) => kind)).toEqual(['in']);
    expect(clock.nowNs()).toBe(10);
    expect(clock.nextEventNs()).toBe(11);
  });

  it('refuses unknown and taken ports and times that are not finite', () => {
    const clock = new VirtualClock();
    recorder(clock, 'a');
    expect(() => clock.schedule('b', 1, 'x')).toThrow(ClockError);
    expect(() => recorder(clock, 'a')).toThrow(/'a' is attached already/);
    expect(() => clock.schedule('a', NaN, 'x')).toThrow(/finite/);
  });

  it('drops the events of a detached port', () => {
    const clock = new VirtualClock();
    const seen = recorder(clock, 'a');
    clock.schedule('a', 10, 'x');
    clock.detach('a');
    clock.run();
    expect(seen).toEqual([]);
  });

  it('goes on from a snapshot in the same order, on its own copy of the payloads', () => {
    const clock = new VirtualClock();
    const seen = recorder(clock, 'a');
    const payload = { value: 1 };
    clock.schedule('a', 10, 'x', payload);
    clock.schedule('a', 10, 'y');
    clock.run(5);
    const snapshot = clock.snapshot();
    payload.value = 2;

    const fork = new VirtualClock();
    const forkSeen = recorder(fork, 'a');
    fork.restore(snapshot);
    fork.run();
    clock.run();
    expect(forkSeen).toEqual([
      ['x', { value: 1 }, 10],
      ['y', undefined, 10],
    ]);
    expect(seen.map(([kind]) => kind)).toEqual(['x', 'y']);
    expect(fork.schedule('a', 20, 'z')).toBe(clock.schedule('a', 20, 'z'));
  });

  it('skips to what an event does next, up to the next event and to where time may go', () => {
    const clock = new VirtualClock();
    const skips: [number, boolean][] = [];
    clock.attach('a', {
      onEvent: () => {
        for (const timeNs of [20, 29, 30, 31, 15]) skips.push([timeNs, clock.skipTo(timeNs)]);
        skips.push([clock.nowNs(), true]);
      },
    });
    clock.schedule('a', 10, 'x');
    clock.schedule('a', 30, 'y');
    expect(clock.skipTo(5)).toBe(false);
    clock.run(20);
    expect(skips).toEqual([
      [20, true],
      [29, false],
      [30, false],
      [31, false],
      [15, true],
      [20, true],
    ]);
    expect(clock.nowNs()).toBe(20);
  });

  it('tells until when it would skip', () => {
    const clock = new VirtualClock();
    const quiet: number[] = [];
    clock.attach('a', { onEvent: () => quiet.push(clock.quietUntilNs()) });
    for (const timeNs of [10, 30, 40]) clock.schedule('a', timeNs, 'x');
    expect(clock.quietUntilNs()).toBe(-Infinity);
    clock.run(20);
    clock.run(35);
    clock.run();
    expect(quiet).toEqual([20, 35, Infinity]);
  });

  it('does not grow under steady arm-and-cancel', () => {
    const clock = new VirtualClock();
    recorder(clock, 'a');
    for (let i = 0; i < 100_000; i++) clock.cancel(clock.schedule('a', 1e9, 'deadline'));
    expect(clock.snapshot().events).toEqual([]);
    expect(clock.nextEventNs()).toBeUndefined();
  });
});
