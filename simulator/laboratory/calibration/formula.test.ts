import { describe, expect, it } from 'vitest';
import { evaluateFormula } from './formula.js';

const values = new Map([
  ['n', 6],
  ['rows', 4],
]);

describe('formulas of launch rules', () => {
  it.each([
    ['n', 6],
    ['12', 12],
    ['rows * n - 1', 23],
    ['1 - n - rows', -9],
    ['n / 2 * 4', 12],
    ['2 ** rows * 3', 48],
    ['2 ** 3 ** 2', 512],
    ['-n ** 2', -36],
    ['-n / 2', -3],
    ['2 ** -1', 0.5],
    ['(n + 2) ** 2 * (rows + 1)', 320],
    ['max(5, rows, n) + min(n, 2)', 8],
    ['ceil(n / rows)', 2],
  ])('%s', (text, value) => {
    expect(evaluateFormula(text, values)).toBe(value);
  });

  it.each([
    ['', 'it ends too soon'],
    ['n *', 'it ends too soon'],
    ['n m', "'m' was not expected"],
    ['m', "there is no 'm'; there are: n, rows"],
    ['max', "there is no 'max'"],
    ['(n', "')' is missing"],
    ['n # rows', "what is '# rows'?"],
    ['1.5', "what is '.5'?"],
  ])('refuses %j', (text, message) => {
    expect(() => evaluateFormula(text, values)).toThrow(message);
  });
});
