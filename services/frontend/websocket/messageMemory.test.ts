import { expect, it } from 'vitest';
import { BodyBudget } from '../../http/index.js';
import { HOLD_BYTES, MessageMemory } from './messageMemory.js';

function memory(limitBytes = 100 * HOLD_BYTES) {
  const told: string[] = [];
  const budget = new BodyBudget(limitBytes);
  const host = { onNoMemory: () => told.push('none'), onEvicted: () => told.push('evicted') };
  return { budget, told, held: new MessageMemory(budget, host) };
}

it('counts nothing for small messages', () => {
  const { budget, held } = memory();
  for (let at = 0; at < 100; at++) {
    held.onChunk(HOLD_BYTES - 1000);
    held.onMessage();
  }
  expect(budget.counts().bytes).toBe(0);
  expect(held.heardMs).toBe(Infinity);
});

it('counts twice what came of a large one until it is whole, since the library copies it together', () => {
  const { budget, held } = memory();
  held.onChunk(HOLD_BYTES);
  expect(budget.counts().bytes).toBe(2 * (HOLD_BYTES + 360));
  expect(held.heardMs).toBeLessThan(Infinity);
  held.onChunk(HOLD_BYTES);
  expect(budget.counts().bytes).toBe(2 * (HOLD_BYTES + 360));
  held.onChunk(2 * HOLD_BYTES);
  expect(budget.counts().bytes).toBe(2 * (4 * HOLD_BYTES + 3 * 360));
  held.onMessage();
  expect(budget.counts().bytes).toBe(0);
});

it('keeps what is being parsed counted, whatever comes behind it, and waits for nobody meanwhile', () => {
  const { budget, held } = memory();
  held.holdWhole(9 * HOLD_BYTES);
  held.onMessage();
  expect(budget.counts().bytes).toBe(9 * HOLD_BYTES);
  expect(held.heardMs).toBe(Infinity);
  held.release();
  held.onMessage();
  expect(budget.counts().bytes).toBe(0);
});

it('tells when there is none, and takes none any more once the connection ends', () => {
  const { budget, told, held } = memory(HOLD_BYTES);
  held.onChunk(HOLD_BYTES);
  expect(told).toEqual(['none']);
  held.end();
  held.onChunk(HOLD_BYTES);
  held.holdWhole(HOLD_BYTES);
  expect(told).toEqual(['none']);
  expect(budget.counts().bytes).toBe(0);
});
