import { expect, it } from 'vitest';
import { VirtualClock } from '../../simulator/time/index.js';
import type { Evaluation } from './evaluation.js';
import { HangPatience } from './hangPatience.js';
import { HangWatchdog } from './hangWatchdog.js';
import { InFlight } from './inFlight.js';

const MS = 1e6;

/** A clock of a process that was stopped: its events run late by `lateNs` until it has caught up. */
class StoppedClock extends VirtualClock {
  resumeNs = 0;

  override behindNs(): number {
    return Math.max(0, this.resumeNs - this.nowNs());
  }
}

function watched() {
  const clock = new StoppedClock();
  const inFlight = new InFlight();
  const reasons: string[] = [];
  const limits = { minimumMs: 1000, sharedThreadMs: 6000, factor: 8, firstAnswerMs: 60_000 };
  const watchdog = new HangWatchdog(clock, 'watchdog', inFlight, limits, new HangPatience(), (reason) => {
    reasons.push(reason);
    watchdog.close();
  });
  let id = 0;
  const send = () => {
    const items: Evaluation[] = [];
    items.length = 1;
    const batch = {
      id: id++,
      items,
      launchClass: 'standard' as const,
      limit: 1,
      sentNs: clock.nowNs(),
      longestQueueNs: 0,
      totalQueueNs: 0,
      isAlone: false,
      isLimited: false,
      trace: undefined,
      traceparent: undefined,
    };
    inFlight.add(batch);
    watchdog.onSent(clock.nowNs());
    return batch;
  };
  const answered = send();
  clock.advanceTo(10 * MS);
  inFlight.remove(answered, clock.nowNs(), true);
  return { clock, inFlight, reasons, send };
}

it('does not take a pause of its own process for a hang: what was sent has its whole time again', () => {
  const { clock, inFlight, reasons, send } = watched();
  const batch = send();
  // Stopped from here for ten seconds: every event until then runs late, all of them before any answer is read.
  clock.resumeNs = 10_000 * MS;
  clock.run(10_900 * MS);
  expect(reasons).toEqual([]);
  inFlight.remove(batch, clock.nowNs(), true);
  clock.run();
  expect(reasons).toEqual([]);
});

it('finds a replica that hung over a pause all the same', () => {
  const { clock, reasons, send } = watched();
  send();
  clock.resumeNs = 10_000 * MS;
  clock.run(13_000 * MS);
  expect(reasons).toHaveLength(1);
});

it('looks a second time: an answer that was on its way counts', () => {
  const { clock, inFlight, reasons, send } = watched();
  const batch = send();
  clock.run(1200 * MS);
  inFlight.remove(batch, clock.nowNs(), true);
  clock.run();
  expect(reasons).toEqual([]);
});

it('costs no more than about an event a second, however many batches there are', () => {
  const { clock, inFlight, send } = watched();
  let events = 0;
  for (let at = 0; at < 5000; at++) {
    const batch = send();
    const untilNs = clock.nowNs() + MS;
    for (let next = clock.nextEventNs(); next !== undefined && next <= untilNs; next = clock.nextEventNs()) {
      clock.step();
      events += 1;
    }
    clock.advanceTo(untilNs);
    inFlight.remove(batch, clock.nowNs(), true);
  }
  expect(events).toBeLessThanOrEqual(7);
});

it('looks again after a while and never at once, whatever rounding leaves of what is allowed', () => {
  for (let at = 0; at < 400; at++) {
    const { clock, reasons, send } = watched();
    clock.advanceTo((0.1 + at * 7.123456789) * MS);
    send();
    let events = 0;
    while (reasons.length === 0 && events < 100 && clock.step()) events += 1;
    expect(reasons).toHaveLength(1);
    expect(events).toBeLessThan(8);
  }
});
