import { expect, it } from 'vitest';
import { othersLoad } from './index.js';

const LINKS: Readonly<Record<string, readonly string[]>> = { a: ['m', 'n'], b: ['n'], c: ['x'] };
const registry = {
  applications: () => Object.keys(LINKS).map((name) => ({ name })) as never,
  linkedNames: (name: string) => LINKS[name] ?? [],
};
const all: Readonly<Record<string, { inFlight: number; taken: number }>> = {
  a: { inFlight: 5, taken: 50 },
  b: { inFlight: 2, taken: 20 },
  c: { inFlight: 9, taken: 90 },
};
const lines: typeof all = { a: { inFlight: 4, taken: 30 } };

it('counts queries of all applications that ask the same models, but for lines of jobs', () => {
  const others = othersLoad(
    registry,
    (name) => all[name],
    (name) => lines[name],
  );
  expect(others('a')).toEqual({ inFlight: 3, taken: 40 });
  expect(others('c')).toEqual({ inFlight: 9, taken: 90 });
});

it('adds what other processes ask of them', () => {
  const asked: string[][] = [];
  const others = othersLoad(
    registry,
    () => undefined,
    () => undefined,
    { busy: (names) => (asked.push([...names]), 2), asking: () => 1 },
  );
  expect(others('b')).toEqual({ inFlight: 2, taken: 0, sharers: 2 });
  expect(asked).toEqual([['b', 'a']]);
});
