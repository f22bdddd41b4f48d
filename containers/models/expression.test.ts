import { describe, expect, it } from 'vitest';
import { ExpressionError, parseExpression } from './expression.js';

const scope = new Map([
  ['batch', 5],
  ['classes', 10],
]);
const value = (source: string | number): number => parseExpression(source).evaluate(scope);

describe('expressions', () => {
  it.each([
    [7, 7],
    ['batch', 5],
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['10 - 2 - 3', 5],
    ['17 / 4 / 2', 2],
    ['2 * (batch - 2) / classes', 0],
    ['ceilDiv(batch * classes, 64)', 1],
    ['ceilDiv(65, 64)', 2],
    ['min(batch, 3, classes) + max(1, batch)', 8],
    ['3 - 5 + 4', 2],
  ])('%s is %d', (source, expected) => {
    expect(value(source)).toBe(expected);
  });

  it('names what it reads', () => {
    expect(parseExpression('ceilDiv(batch, tile) + batch').names).toEqual(['batch', 'tile']);
  });

  it.each([
    ['', 'ends too early'],
    ['1 +', 'ends too early'],
    ['1 2', "has '2' at position 2"],
    ['(1', "')' expected"],
    ['1.5', 'cannot be read at position 1'],
    ['batch; 1', 'cannot be read at position 5'],
    ['ceilDiv(1)', 'ceilDiv takes two values'],
    ['ceilDiv(1, 2, 3)', 'ceilDiv takes two values'],
    ['min(1)', 'min takes two or more'],
    ['ceilDiv + 1', "'(' expected"],
    ['99999999999999999999', 'not an exact integer'],
    ['('.repeat(300), 'longer than 200'],
    ['-1', "has '-' at position 0"],
  ])('refuses %j', (source, message) => {
    expect(() => parseExpression(source)).toThrow(ExpressionError);
    expect(() => parseExpression(source)).toThrow(message);
  });

  it.each([
    ['tile', "'tile' has no value"],
    ['batch - classes', 'below zero'],
    ['batch / (classes - 10)', 'division by zero'],
    ['9007199254740991 * batch', 'not an exact integer'],
    ['constructor', "'constructor' has no value"],
  ])('%s has no result', (source, message) => {
    const expression = parseExpression(source);
    expect(() => expression.evaluate(scope)).toThrow(message);
  });
});
