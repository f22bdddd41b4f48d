import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SpareRoom } from './spareRoom.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => void vi.useRealTimers());

function harness() {
  const others = { inFlight: 0, taken: 0, sharers: 1 };
  const room = new SpareRoom({ others: () => others });
  let under = 0;
  let begun = 0;
  return {
    others,
    room,
    ask: (count: number) => {
      for (let one = 0; one < count; one++) {
        room.ask('app', () => {
          under += 1;
          begun += 1;
        });
      }
    },
    /** As models do: all that is under way is answered. */
    finish: () => {
      for (let one = under; one > 0; one--) {
        under -= 1;
        room.done('app');
      }
    },
    begun: () => begun,
    under: () => under,
  };
}

it('gives twice as much from look to look while nobody else asks', () => {
  const { room, ask, under } = harness();
  ask(1000);
  const seen: number[] = [];
  for (let look = 0; look < 9; look++) {
    vi.advanceTimersByTime(10);
    seen.push(under());
  }
  expect(seen).toEqual([1, 2, 4, 8, 16, 32, 64, 64, 64]);
  room.stop();
});

it('gives a line a second while others ask, also between their answers, and all again once they are quiet', () => {
  const { others, room, ask, finish, begun } = harness();
  ask(100_000);
  vi.advanceTimersByTime(100);
  const before = begun();
  for (let ms = 0; ms < 5000; ms += 10) {
    // A query every 40 ms, answered at once.
    if (ms % 40 === 0) others.taken += 1;
    finish();
    vi.advanceTimersByTime(10);
  }
  expect(begun() - before).toBeGreaterThanOrEqual(4);
  // What was under way at its begin ends, and makes no room.
  expect(begun() - before).toBeLessThanOrEqual(70);
  others.inFlight = 1;
  const busy = begun();
  for (let ms = 0; ms < 900; ms += 10) {
    finish();
    vi.advanceTimersByTime(10);
  }
  expect(begun() - busy).toBeLessThanOrEqual(1);
  others.inFlight = 0;
  const quiet = begun();
  for (let ms = 0; ms < 300; ms += 10) {
    finish();
    vi.advanceTimersByTime(10);
  }
  expect(begun() - quiet).toBeGreaterThan(500);
  room.stop();
});

it('takes others who ask seldom to go on asking, until they have been quiet for longer than ever of late', () => {
  const { others, room, ask, finish, begun } = harness();
  ask(30_000);
  const pass = (ms: number): number => {
    const before = begun();
    for (let passed = 0; passed < ms; passed += 10) {
      finish();
      vi.advanceTimersByTime(10);
    }
    return begun() - before;
  };
  // A query every 300 ms: after the first few, nothing but the trickle.
  for (let query = 0; query < 3; query++) {
    others.taken += 1;
    pass(300);
  }
  let lines = 0;
  for (let query = 0; query < 30; query++) {
    others.taken += 1;
    lines += pass(300);
  }
  expect(lines).toBeGreaterThanOrEqual(7);
  expect(lines).toBeLessThanOrEqual(10);
  expect(pass(2000)).toBeGreaterThan(5000);
  room.stop();
});

it('lets lines through the more seldom the longer one takes, while others ask', () => {
  const { others, room, ask, finish, begun } = harness();
  others.inFlight = 1;
  ask(100);
  vi.advanceTimersByTime(10);
  expect(begun()).toBe(1);
  vi.advanceTimersByTime(90);
  finish();
  vi.advanceTimersByTime(15_000);
  expect(begun()).toBe(1);
  vi.advanceTimersByTime(6000);
  expect(begun()).toBe(2);
  room.stop();
});

it('leaves no timer where there is nothing to wait for', () => {
  const { ask, finish } = harness();
  ask(1);
  vi.advanceTimersByTime(20);
  finish();
  vi.advanceTimersByTime(20);
  expect(vi.getTimerCount()).toBe(0);
});

it('is no deeper in calls for many lines that are answered at once', () => {
  const room = new SpareRoom({ others: () => ({ inFlight: 0, taken: 0 }) });
  let done = 0;
  for (let one = 0; one < 20_000; one++) {
    room.ask('app', () => {
      done += 1;
      room.done('app');
    });
  }
  vi.advanceTimersByTime(20);
  expect(done).toBe(20_000);
});

it('has its part of the room where several processes ask', () => {
  const { others, room, ask, under, finish, begun } = harness();
  others.sharers = 3;
  ask(1000);
  vi.advanceTimersByTime(200);
  expect(under()).toBe(21);
  others.inFlight = 1;
  vi.advanceTimersByTime(10);
  finish();
  const before = begun();
  vi.advanceTimersByTime(9000);
  expect(begun() - before).toBe(1);
  room.stop();
});

it('has no room for what was withdrawn', () => {
  const { room, ask, under } = harness();
  const withdraw = Array.from({ length: 5 }, () => room.ask('app', () => expect.unreachable()));
  for (const one of withdraw) one();
  ask(1);
  vi.advanceTimersByTime(10);
  expect(under()).toBe(1);
  room.stop();
});
