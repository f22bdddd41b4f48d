import { expect, it } from 'vitest';
import { SingleFlight } from './singleFlight.js';

it('is done once for all who ask while it is done, and not from before they asked', async () => {
  let made = 0;
  const work = new SingleFlight(async () => {
    const own = ++made;
    await new Promise(setImmediate);
    return own;
  });
  const first = work.next();
  const others = Array.from({ length: 100 }, () => work.next());
  expect(await first).toBe(1);
  expect(new Set(await Promise.all(others))).toEqual(new Set([2]));
  expect(await work.next()).toBe(3);
});

it('answers those who wait in turns', async () => {
  const work = new SingleFlight(() => Promise.resolve('made'));
  let answered = 0;
  const all = Array.from({ length: 50 }, () => work.next().then(() => (answered += 1)));
  while (answered < 2) await new Promise(setImmediate);
  expect(answered).toBeLessThan(50);
  await Promise.all(all);
});

it('fails for those who asked alone', async () => {
  let fails = true;
  const work = new SingleFlight(() => (fails ? Promise.reject(new Error('no')) : Promise.resolve('made')));
  await expect(work.next()).rejects.toThrow('no');
  fails = false;
  expect(await work.next()).toBe('made');
});
