import { expect, it } from 'vitest';
import { HostDraws, HostFrontend, SHARES, type HostTimes } from './index.js';

const at = (pauseMs: number, ms: number) => ({ pauseMs, ms: SHARES.map(() => ms) });

/** A query takes its client 0.2 ms and 1 us a byte, the frontend 0.1 ms; its way 4 ms after a pause, 0.4 ms after none. */
const TIMES: HostTimes = {
  format: 2,
  host: 'made up',
  shares: [...SHARES],
  frontend: {
    clientUs: 200,
    clientByteNs: 1000,
    queryUs: 100,
    byteNs: 0,
    way: [at(1, 0.4), at(10, 4)],
    wayByteNs: 0,
  },
  process: [at(0, 0)],
  models: {},
};

it('lets a query that comes right after one that wakes the frontend reach it with that one', () => {
  const frontend = new HostFrontend(new HostDraws(TIMES, 1));
  const first = frontend.send('0', 0, 0);
  const second = frontend.send('1', 0, 0);
  expect(first.reachesNs).toBeCloseTo(2.1e6);
  expect(second.reachesNs).toBeCloseTo(2.1e6);
  // One turn reads both.
  expect([frontend.reach({ bytes: 0 }), frontend.reach({ bytes: 1 })]).toEqual([true, false]);
  const { queries, endNs } = frontend.turn(2.1e6);
  expect(queries).toHaveLength(2);
  expect(endNs).toBeCloseTo(2.3e6);
  expect(frontend.reach({ bytes: 0 })).toBe(false);
  expect(frontend.endTurn()).toBe(true);
  expect(frontend.turn(endNs).endNs).toBeCloseTo(2.4e6);
  expect(frontend.endTurn()).toBe(false);
  // Its own way back is short, but the answer before it is there first.
  expect(frontend.answer(first, 3e6)).toBeCloseTo(5.1e6);
  expect(frontend.answer(second, 3.1e6)).toBeCloseTo(5.2e6);
});

it('sends queries one after the other, those of more bytes later', () => {
  const frontend = new HostFrontend(new HostDraws(TIMES, 1));
  frontend.send('0', 0, 0);
  const { reachesNs } = frontend.send('1', 10_000, 2e6);
  expect(reachesNs).toBeCloseTo(2e6 + 5.1e6 + 0.2e6 + 0.2e6 * 1, -6);
  const third = frontend.send('2', 0, 2e6);
  expect(third.reachesNs).toBeGreaterThanOrEqual(reachesNs);
});
