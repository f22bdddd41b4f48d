import { expect, it } from 'vitest';
import { StartTurns } from './startTurns.js';

it('lets so many go at once, then the lowest rank first, and whoever leaves before its turn not at all', () => {
  const turns = new StartTurns(2);
  const gone: string[] = [];
  const take = (name: string, rank: number): (() => void) => turns.take(rank, () => gone.push(name));
  const [first, second] = [take('first', 5), take('second', 5)];
  const late = take('late', 9);
  const left = take('left', 1);
  take('early', 1);
  take('equal', 1);
  expect(gone).toEqual(['first', 'second']);
  left();
  left();
  expect(gone).toEqual(['first', 'second']);
  first();
  // More than once counts once.
  first();
  expect(gone).toEqual(['first', 'second', 'early']);
  second();
  expect(gone).toEqual(['first', 'second', 'early', 'equal']);
  late();
  take('last', 0);
  expect(gone).toEqual(['first', 'second', 'early', 'equal']);
});
