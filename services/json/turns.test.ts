import { expect, it } from 'vitest';
import { Turns, type LongTask } from './turns.js';

class Steps implements LongTask {
  constructor(
    private readonly name: string,
    public remaining: number,
    private readonly log: string[],
    private readonly done: () => void,
  ) {}

  step(): boolean {
    const untilMs = performance.now() + 5;
    while (performance.now() < untilMs);
    this.remaining -= 1;
    if (this.remaining > 0) return false;
    this.log.push(this.name);
    this.done();
    return true;
  }
}

it('does what is short at once, and long tasks in turns, the shortest first, while others are served', async () => {
  const turns = new Turns();
  const log: string[] = [];
  await new Promise<void>((resolve) => {
    let open = 4;
    const done = () => {
      if (--open === 0) resolve();
    };
    turns.run(new Steps('at once', 1, log, done));
    expect(log).toEqual(['at once']);
    turns.run(new Steps('long', 6, log, done));
    turns.run(new Steps('middle', 4, log, done));
    turns.run(new Steps('short', 2, log, done));
    let others = 0;
    const other = () => {
      log.push('other');
      if (++others < 8) setImmediate(other);
    };
    setImmediate(other);
  });
  expect(log.filter((name) => name !== 'other')).toEqual(['at once', 'short', 'middle', 'long']);
  expect(log.indexOf('other')).toBeLessThan(log.indexOf('short'));
  // One step of 5 ms fills a turn.
  expect(
    log.filter((name, at) => name === 'other' && at < log.indexOf('middle')).length,
  ).toBeGreaterThanOrEqual(4);
  expect(turns.size).toBe(0);
});

it('gives a task that comes much later the room of a turn of its own', async () => {
  const turns = new Turns();
  const log: string[] = [];
  const done = () => undefined;
  turns.run(new Steps('first', 1, log, done));
  turns.run(new Steps('second', 1, log, done));
  expect(log).toEqual(['first']);
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  turns.run(new Steps('third', 1, log, done));
  expect(log).toEqual(['first', 'second', 'third']);
});
