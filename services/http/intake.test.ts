import { expect, it } from 'vitest';
import { Intake, type IntakeSource } from './intake.js';

class Source implements IntakeSource {
  isPaused = false;
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
}

const nextTurn = () => new Promise(setImmediate);

it('holds many chunks of one byte as it does many bytes, and goes on with them later', async () => {
  const intake = new Intake(() => undefined);
  const source = new Source();
  for (let at = 0; at < 2000; at++) intake.count(1, source);
  expect(source.isPaused).toBe(true);
  while (source.isPaused) await nextTurn();
});

it('reads nothing more of others in a turn that has had enough', async () => {
  const intake = new Intake(() => undefined);
  const others = Array.from({ length: 20 }, () => new Source());
  for (const other of others) intake.count(1, other);
  intake.count(300 * 1024, new Source());
  expect(others.every(({ isPaused }) => isPaused)).toBe(true);
  await nextTurn();
  expect(others.some(({ isPaused }) => isPaused)).toBe(true);
  while (others.some(({ isPaused }) => isPaused)) await nextTurn();
});

it('reads from all others, and then from one, after a turn that took too long', async () => {
  const intake = new Intake(() => undefined);
  const many = Array.from({ length: 20 }, () => new Source());
  for (const source of many) intake.count(64 * 1024, source);
  const read = () => many.filter(({ isPaused }) => !isPaused);
  await nextTurn();
  expect(read()).toHaveLength(0);
  while (read().length === 0) await nextTurn();
  expect(read()).toHaveLength(1);
});

it('lets nobody be read in a turn in which a packet of small chunks came', () => {
  let halts = 0;
  const intake = new Intake(() => (halts += 1));
  intake.count(300 * 1024, new Source());
  expect(halts).toBe(0);
  const source = new Source();
  for (let at = 0; at < 4000; at++) intake.count(1, source);
  expect(halts).toBe(1);
});

it('forgets who is done', () => {
  const intake = new Intake(() => undefined);
  const source = new Source();
  intake.count(1, source);
  intake.forget(source);
  intake.count(300 * 1024, new Source());
  expect(source.isPaused).toBe(false);
});
