import { expect, it } from 'vitest';
import { checkTable, holds, type Check } from './check.js';

const ratio: Check = { what: 'a ratio', figure: 0.5, bound: 'atLeast', floor: 0.45, unit: 'x', errors: 0 };
const latency: Check = { ...ratio, what: 'latency', figure: 120, bound: 'atMost', floor: 110, unit: 'ms' };

it('holds figures to their side of the floor', () => {
  expect(holds(ratio)).toBe(true);
  expect(holds({ ...ratio, figure: 0.44 })).toBe(false);
  expect(holds(latency)).toBe(false);
  expect(holds({ ...latency, figure: 110 })).toBe(true);
});

it('takes no figure that was not measured, and none beside errors', () => {
  expect(holds({ ...ratio, figure: NaN })).toBe(false);
  expect(holds({ ...latency, figure: NaN })).toBe(false);
  expect(holds({ ...ratio, errors: 1 })).toBe(false);
});

it('prints each with its floor and whether it holds', () => {
  const lines = checkTable([ratio, latency, { ...ratio, errors: 3 }]).split('\n');
  expect(lines[0]).toMatch(/a ratio +0\.50 x +>= 0\.45 x +holds/);
  expect(lines[1]).toMatch(/latency +120 ms +<= 110 ms +DOES NOT HOLD/);
  expect(lines[2]).toMatch(/3 ERRORS/);
});
