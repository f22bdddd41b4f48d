import { describe, expect, it } from 'vitest';
import { formatMs, formatNumber, formatShare } from './page/format.js';
import { heatOf } from './page/heat.js';
import { History } from './page/history.js';

describe('History', () => {
  const point = (values: Record<string, number | null>) => new Map(Object.entries(values));

  it('keeps columns of equal length, with gaps where a series has no value', () => {
    const history = new History(3);
    expect(history.push(1, point({ a: 1 }))).toBe(true);
    expect(history.push(2, point({ a: 2, b: 5 }))).toBe(true);
    expect(history.push(3, point({ b: 6 }))).toBe(false);
    expect(history.times).toEqual([1, 2, 3]);
    expect(history.column('a')).toEqual([1, 2, null]);
    expect(history.column('b')).toEqual([null, 5, 6]);
    expect([history.last('a'), history.last('b')]).toEqual([null, 6]);
    history.keep((name) => name === 'b');
    expect(history.names).toEqual(['b']);
  });

  it('forgets old points, and a series of gaps only', () => {
    const history = new History(2);
    history.push(1, point({ a: 1, constructor: 2 }));
    history.push(2, point({ constructor: 3 }));
    expect(history.push(3, point({ constructor: 4 }))).toBe(true);
    expect(history.names).toEqual(['constructor']);
    expect(history.column('constructor')).toEqual([3, 4]);
  });

  it('keeps a series that is named without a value', () => {
    const history = new History(1);
    history.push(1, point({ a: null }));
    expect(history.push(2, point({ a: null }))).toBe(false);
    expect(history.names).toEqual(['a']);
  });

  it('holds so many series and no more', () => {
    const history = new History(2, 2);
    history.push(1, point({ a: 1, b: 2, c: 3 }));
    expect(history.names).toEqual(['a', 'b']);
  });
});

describe('the colour of an SM', () => {
  it('is none for an idle one, and grows by the decade', () => {
    expect(heatOf(0)).toBe(0);
    expect(heatOf(NaN)).toBe(0);
    expect(heatOf(1e-9)).toBe(0.05);
    expect(heatOf(0.001)).toBeCloseTo(0.4);
    expect(heatOf(0.1)).toBeCloseTo(0.8);
    expect(heatOf(1)).toBe(1);
  });
});

describe('formats', () => {
  const spaced = (text: string): string => text.replaceAll('\u00a0', ' ');

  it.each([
    [0, '0'],
    [3, '3'],
    [0.257, '0.26'],
    [42.27, '42.3'],
    [5331.2, '5331'],
    [53_312, '53.3 k'],
    [2_500_000, '2.5 M'],
  ])('number %d', (value, text) => expect(spaced(formatNumber(value))).toBe(text));

  it.each([
    [0, '0'],
    [0.0124, '12 µs'],
    [1.26, '1.3 ms'],
    [20, '20 ms'],
    [1260, '1.26 s'],
  ])('%d ms', (value, text) => expect(spaced(formatMs(value))).toBe(text));

  it.each([
    [0, '0 %'],
    [1, '100 %'],
    [0.052, '5.2 %'],
    [0.00042, '0.042 %'],
    [1e-7, '< 0.001 %'],
  ])('share %d', (value, text) => expect(spaced(formatShare(value))).toBe(text));
});
