import { expect, it } from 'vitest';
import { PeerPulse } from './peerPulse.js';

const socket = { bytesRead: 0, bytesWritten: 0, writableLength: 0 };

it('finds a peer alive by anything that came since the last look', () => {
  const counts = { ...socket };
  const pulse = new PeerPulse(counts);
  expect(pulse.isAlive(false)).toBe(true);
  expect(pulse.isAlive(false)).toBe(false);
  counts.bytesRead = 1;
  expect(pulse.isAlive(false)).toBe(true);
});

it('asks of one that is not read from only that it takes what was written', () => {
  const counts = { ...socket, bytesWritten: 100, writableLength: 60 };
  const pulse = new PeerPulse(counts);
  expect(pulse.isAlive(true)).toBe(true);
  expect(pulse.isAlive(true)).toBe(false);
  counts.writableLength = 59;
  expect(pulse.isAlive(true)).toBe(true);
  counts.writableLength = 0;
  expect([pulse.isAlive(true), pulse.isAlive(true)]).toEqual([true, true]);
});

it('gives one that could not be heard until the next look', () => {
  const pulse = new PeerPulse({ ...socket, bytesRead: 7 });
  pulse.isAlive(false);
  pulse.isAlive(true);
  expect([pulse.isAlive(false), pulse.isAlive(false)]).toEqual([true, false]);
});
