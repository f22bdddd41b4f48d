import { describe, expect, it } from 'vitest';
import { PacedClock } from './index.js';

describe('PacedClock', () => {
  it('never runs an event before the wall has reached it, and keeps their order', async () => {
    const clock = new PacedClock({ pollWithinNs: 1_000_000 });
    const seen: [string, number][] = [];
    await new Promise<void>((resolve) => {
      clock.attach('a', {
        onEvent(kind, _payload, nowNs) {
          seen.push([kind, nowNs]);
          if (kind === 'last') resolve();
        },
      });
      const start = clock.nowNs();
      clock.schedule('a', start + 3e6, 'last');
      clock.schedule('a', start + 2e6, 'second');
      clock.schedule('a', start + 1e5, 'first');
    });
    clock.close();
    expect(seen.map(([kind]) => kind)).toEqual(['first', 'second', 'last']);
    expect(clock.nowNs()).toBeGreaterThanOrEqual(seen[2][1]);
  });

  it('gives each late event its own time, and says how late the host was', async () => {
    let wallNs = 0;
    const clock = new PacedClock({ pollWithinNs: Infinity, wallNs: () => wallNs });
    const seen: number[] = [];
    await new Promise<void>((resolve) => {
      clock.attach('a', {
        onEvent(kind, _payload, nowNs) {
          seen.push(nowNs, clock.nowNs());
          if (kind === 'slow') wallNs = 500;
          else resolve();
        },
      });
      clock.schedule('a', 100, 'slow');
      clock.schedule('a', 150, 'behind');
      wallNs = 100;
    });
    clock.close();
    expect(seen).toEqual([100, 100, 150, 150]);
    expect(clock.lagNs).toBe(350);
    expect(clock.nowNs()).toBe(500);
  });

  it('runs nothing after close', async () => {
    const clock = new PacedClock({ pollWithinNs: Infinity });
    let ran = false;
    clock.attach('a', { onEvent: () => (ran = true) });
    clock.schedule('a', 0, 'x');
    clock.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(ran).toBe(false);
  });
});
