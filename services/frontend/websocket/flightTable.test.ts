import { expect, it } from 'vitest';
import { FlightTable } from './flightTable.js';

const flight = (id: number, inputBytes: number) => ({
  id,
  inputBytes,
  queryId: `q${id}`,
  writeTo: () => undefined,
});

it('knows what is in flight by its id, and what its inputs take', () => {
  const table = new FlightTable();
  const [one, two] = [flight(1, 100), flight(2, 20)];
  table.add(one);
  table.add(two);
  expect(table).toMatchObject({ size: 2, inputBytes: 120 });
  expect(table.find(2)).toBe(two);
  expect(table.remove(one)).toBe(true);
  expect(table.find(1)).toBeUndefined();
  expect(table).toMatchObject({ size: 1, inputBytes: 20 });
  expect(table.clear()).toEqual([two]);
  expect(table).toMatchObject({ size: 0, inputBytes: 0 });
});

it('does not take another message of its id for one that was withdrawn', () => {
  const table = new FlightTable();
  const [withdrawn, next] = [flight(1, 100), flight(1, 7)];
  table.add(withdrawn);
  table.remove(withdrawn);
  table.add(next);
  expect(table.remove(withdrawn)).toBe(false);
  expect(table).toMatchObject({ size: 1, inputBytes: 7 });
});
