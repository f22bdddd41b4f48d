import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { ReadingPace } from './readingPace.js';

function paced() {
  const stream = new PassThrough();
  stream.resume();
  const turns: ReadingPace[] = [];
  const pace: ReadingPace = new ReadingPace(stream as unknown as Socket, () => turns.push(pace));
  return { stream, pace, turns };
}

const turn = () => new Promise(setImmediate);
/** More than a turn of the event loop reads. */
const FLOOD_BYTES = 300 * 1024;

it('reads while its owner has room', () => {
  const { stream, pace } = paced();
  pace.set(false);
  expect([pace.isPaused, stream.isPaused()]).toEqual([true, true]);
  pace.pause();
  pace.set(true);
  expect([pace.isPaused, stream.isPaused()]).toEqual([false, false]);
});

it('is not read in a turn that has read enough, though its owner has room, and asks in a later one', async () => {
  const { stream, pace, turns } = paced();
  pace.count(FLOOD_BYTES);
  pace.set(true);
  expect([pace.isPaused, stream.isPaused()]).toEqual([true, true]);
  while (turns.length === 0) await turn();
  expect(pace.isPaused).toBe(true);
  pace.set(true);
  expect([pace.isPaused, stream.isPaused()]).toEqual([false, false]);
});

it('is read to the end once nothing is taken any more', async () => {
  const { stream, pace, turns } = paced();
  pace.pause();
  pace.drain();
  expect(stream.isPaused()).toBe(false);
  pace.pause();
  pace.set(false);
  pace.count(FLOOD_BYTES);
  expect([pace.isPaused, stream.isPaused()]).toEqual([false, false]);
  while (turns.length === 0) await turn();
  pace.end();
});
